"""The report in a real browser: it replays, explains, searches and sorts, by pointer and by keyboard; names stay text.

The browser is Debian's chromium, headless; where it is not installed these tests are skipped.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from selenium import webdriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement

import anypag as ap
from anypag.data.findings import Audit, Finding
from anypag.explain import explain
from anypag.graphs.pag import PAG
from anypag.markup import shown_share
from anypag.report import write_report
from anypag.results.files import load_result, save_result
from anypag.results.result import Result
from browsers import opened
from report_examples import contradicting
from result_examples import resting_on

HOSTILE = "<img src=x onerror=alert(1)>"

VISIBLE = """return [...document.querySelectorAll("#edges .edge:not(.gone)")].map(e => e.getAttribute("aria-label"))"""
CLICK = """arguments[0].dispatchEvent(new MouseEvent("click", {bubbles: true}))"""


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[webdriver.Chrome]:
    yield from opened(tmp_path_factory.mktemp("chromium"))


def open_file(browser: webdriver.Chrome, path: Path) -> None:
    """Show a file, and forget what the console said before."""
    browser.get(path.as_uri())
    console(browser)


def console(page: webdriver.Chrome) -> Any:
    """What the browser complained of since last asked."""
    return page.get_log("browser")  # type: ignore[no-untyped-call]


def run(page: webdriver.Chrome, script: str, *arguments: object) -> Any:
    return page.execute_script(script, *arguments)


@pytest.fixture(scope="module")
def result() -> Result:
    return ap.learn(ap.simulate.random_system(12, 2.5, seed=5).linear_gaussian(500, seed=5), method="icd")


@pytest.fixture
def page(browser: webdriver.Chrome, result: Result, tmp_path: Path) -> Iterator[webdriver.Chrome]:
    write_report(result, tmp_path / "report.html", call="anypag learn data.csv")
    open_file(browser, tmp_path / "report.html")
    yield browser
    assert console(browser) == []  # no error, and nothing that the page's policy forbids


def shown(page: webdriver.Chrome, pag: PAG) -> bool:
    """Does the page show exactly the edges of this graph, with their marks?"""
    return sorted(run(page, VISIBLE)) == sorted(str(edge) for edge in pag.edges())


def told(page: webdriver.Chrome) -> str:
    return page.find_element(By.ID, "told").text


def find(page: webdriver.Chrome, selector: str) -> WebElement:
    return page.find_element(By.CSS_SELECTOR, selector)


def edge_element(page: webdriver.Chrome, label: str) -> WebElement:
    return next(
        e for e in page.find_elements(By.CSS_SELECTOR, "#edges .edge") if e.get_attribute("aria-label") == label
    )


def node_element(page: webdriver.Chrome, name: str) -> WebElement:
    return next(e for e in page.find_elements(By.CSS_SELECTOR, ".node") if e.get_attribute("aria-label") == name)


def test_the_slider_replays_the_history(page: webdriver.Chrome, result: Result) -> None:
    assert shown(page, result.pag)
    slider = page.find_element(By.ID, "slider")
    slider.send_keys(Keys.HOME)
    assert run(page, VISIBLE) == []
    assert page.find_element(By.ID, "moment").text.startswith("Start: all")
    for item in result.history:
        slider.send_keys(Keys.ARROW_RIGHT)
        assert shown(page, item.pag)
        assert page.find_element(By.ID, "moment").text.startswith(f"r = {item.r}: {len(item.pag.edges())} edges left")
    assert len(result.history) > 2


def test_nodes_stay_where_they_are(page: webdriver.Chrome) -> None:
    place = "return [...document.querySelectorAll('.node rect')].map(r => [r.getAttribute('x'), r.getAttribute('y')])"
    before = run(page, place)
    page.find_element(By.ID, "slider").send_keys(Keys.HOME)
    assert run(page, place) == before


def test_pointing_at_an_edge_explains_it_and_a_click_keeps_it(page: webdriver.Chrome, result: Result) -> None:
    edge = result.pag.edges()[0]
    words = explain(result, edge.a, edge.b)
    reach = edge_element(page, str(edge)).find_element(By.CSS_SELECTOR, ".reach")
    ActionChains(page).move_to_element(reach).perform()
    assert words.summary in told(page)
    ActionChains(page).click().move_to_element(page.find_element(By.ID, "take-away")).perform()
    text = told(page)
    assert text.startswith(str(edge))
    for line in (words.summary, *(end.meaning for end in words.ends), *(end.why for end in words.ends if end.why)):
        assert line in text
    ActionChains(page).send_keys(Keys.ESCAPE).perform()
    assert "Click an edge" in told(page)


def test_two_variables_without_an_edge_tell_what_separates_them(page: webdriver.Chrome, result: Result) -> None:
    (a, b), found = next((pair, found) for pair, found in result.sepsets.items() if found.given)
    for name in (a, b):
        run(page, CLICK, node_element(page, name))
    assert explain(result, a, b).summary in told(page)
    assert f"Found at r = {found.r}" in told(page)
    assert "n = 500" in told(page)


def test_the_missing_edges_of_a_variable_can_be_clicked(page: webdriver.Chrome, result: Result) -> None:
    a, b = next(iter(result.sepsets))
    run(page, CLICK, node_element(page, a))
    missing = page.find_elements(By.CSS_SELECTOR, ".absent-reach")
    assert len(missing) == len(result.pag) - 1 - len(result.pag.neighbours(a))
    key = ",".join(map(str, sorted((result.pag.index(a), result.pag.index(b)))))
    run(page, CLICK, find(page, f"[data-absent='{key}']"))
    assert f"{a} and {b}: no edge" in told(page)


def test_an_edge_that_goes_later_says_so(page: webdriver.Chrome, result: Result) -> None:
    a, b = next(pair for pair, found in result.sepsets.items() if found.r > 0)
    slider = page.find_element(By.ID, "slider")
    slider.send_keys(Keys.HOME, Keys.ARROW_RIGHT)
    for name in (a, b):
        run(page, CLICK, node_element(page, name))
    assert "This edge is removed later." in told(page)
    slider.send_keys(Keys.END)
    assert f"{a} and {b}: no edge" in told(page)


def test_edges_and_variables_by_keyboard(page: webdriver.Chrome, result: Result) -> None:
    edges = [str(edge) for edge in result.pag.edges()]
    start = edge_element(page, edges[0])
    assert start.get_attribute("tabindex") == "0"
    focus = "arguments[0].focus()"
    run(page, focus, start)
    page.switch_to.active_element.send_keys(Keys.ARROW_RIGHT)
    assert page.switch_to.active_element.get_attribute("aria-label") == edges[1]
    assert told(page).startswith(edges[1])
    page.switch_to.active_element.send_keys(Keys.ENTER)
    assert "chosen" in str(page.switch_to.active_element.get_attribute("class"))
    run(page, focus, node_element(page, result.pag.names[0]))
    page.switch_to.active_element.send_keys(Keys.ARROW_LEFT)
    assert page.switch_to.active_element.get_attribute("aria-label") == result.pag.names[-1]


def test_everything_that_acts_can_be_reached_by_tab(page: webdriver.Chrome) -> None:
    reached = set()
    for _ in range(20):
        ActionChains(page).send_keys(Keys.TAB).perform()
        active = page.switch_to.active_element
        reached.update({str(active.get_attribute("id")), *str(active.get_attribute("class")).split()})
    assert {"search", "edge", "node", "closer", "wider", "fit", "play", "slider", "shown"} <= reached


def test_searching_marks_chooses_and_filters(page: webdriver.Chrome, result: Result) -> None:
    name = result.pag.names[3]
    page.find_element(By.ID, "search").send_keys(name.lower(), Keys.ENTER)
    assert told(page).startswith(name)
    assert "match" in str(node_element(page, name).get_attribute("class"))
    rows = page.find_elements(By.CSS_SELECTOR, "tbody tr")
    assert len(rows) >= len(result.pag.neighbours(name)) > 0
    assert all(name in row.text for row in rows)


def test_the_table_sorts_by_any_column_and_shows_missing_edges(page: webdriver.Chrome, result: Result) -> None:
    assert len(page.find_elements(By.CSS_SELECTOR, "tbody tr")) == len(result.pag.edges())
    run(page, "const s = document.getElementById('shown'); s.value = 'apart'; s.dispatchEvent(new Event('change'))")
    assert page.find_element(By.ID, "counted").text == f"{len(result.sepsets)} rows"
    column = "return [...document.querySelectorAll(arguments[0])].map(cell => Number(cell.textContent))"
    for heading in ("p", "r"):
        for is_reversed in (False, True):
            find(page, f"th[data-column='{heading}'] button").send_keys(Keys.ENTER)
            values = run(page, column, f"tbody td[data-heading='{heading}']")
            assert values == sorted(values, reverse=is_reversed) and values
        assert find(page, f"th[data-column='{heading}']").get_attribute("aria-sort") == "descending"


def test_a_row_of_the_table_explains_itself(page: webdriver.Chrome, result: Result) -> None:
    edge = result.pag.edges()[1]
    row = page.find_elements(By.CSS_SELECTOR, "tbody tr .link")[1]
    assert row.text == str(edge)
    row.send_keys(Keys.ENTER)
    assert told(page).startswith(str(edge))


def test_the_chart_counts_the_tests_of_each_iteration(page: webdriver.Chrome, result: Result) -> None:
    bars = page.find_elements(By.CSS_SELECTOR, "#chart g")
    assert len(bars) == len(result.history)
    titles = [str(bar.find_element(By.TAG_NAME, "title").get_attribute("textContent")) for bar in bars]
    assert all(f"{item.info.n_tests:,} tests" in title for item, title in zip(result.history, titles, strict=True))


def test_zoom(page: webdriver.Chrome) -> None:
    width = "return document.getElementById('graph').viewBox.baseVal.width"
    whole = run(page, width)
    page.find_element(By.ID, "closer").click()
    assert run(page, width) < whole
    page.find_element(By.ID, "fit").click()
    assert run(page, width) == whole


def test_hostile_names_stay_text(browser: webdriver.Chrome, tmp_path: Path) -> None:
    names = {"A": HOSTILE, "B": "</script><script>alert(2)</script>", "C": "javascript:alert(3)", "D": "{a}&amp;"}
    system = ap.learn(ap.Oracle(ap.DAG.from_string("A --> B; C --> B; B --> D").relabel(names)))
    audit = Audit.of([Finding("warning", "odd", (HOSTILE,), f"Column {HOSTILE} is odd.", "Rename it.")])
    hostile = resting_on(load_result(save_result(system)), audit=audit)
    write_report(hostile, tmp_path / "hostile.html", call=f"anypag learn {HOSTILE}")
    open_file(browser, tmp_path / "hostile.html")
    for name in names.values():
        run(browser, CLICK, node_element(browser, name))
    browser.find_element(By.ID, "search").send_keys(HOSTILE)
    assert run(browser, "return document.querySelectorAll('img, #told script, svg script').length") == 0
    assert HOSTILE in find(browser, "#banner").text
    assert HOSTILE in find(browser, "#made pre").text
    assert console(browser) == []


def test_sixty_variables_on_a_laptop(browser: webdriver.Chrome, tmp_path: Path) -> None:
    result = ap.learn(ap.simulate.random_system(64, 2.0, seed=2).linear_gaussian(500, seed=2), method="icd")
    assert len(result.pag) >= 58
    write_report(result, tmp_path / "large.html")
    open_file(browser, tmp_path / "large.html")
    assert shown(browser, result.pag)
    size = run(browser, "return [document.documentElement.scrollWidth, innerWidth]")
    assert size[0] <= size[1]
    texts = """return [...document.querySelectorAll(".node")].map(n => {
        const t = n.querySelector("text").getBoundingClientRect(), r = n.querySelector("rect").getBoundingClientRect();
        return [t.left - r.left, r.right - t.right, t.height, r.left, r.right, r.top, r.bottom]})"""
    boxes = run(browser, texts)
    frame = run(
        browser,
        "const b = document.getElementById('graph').getBoundingClientRect(); return [b.left, b.right, b.top, b.bottom]",
    )
    for left, right, height, *box in boxes:
        assert left >= 0 and right >= 0  # the name fits its box
        assert height >= 9
        assert box[0] >= frame[0] and box[1] <= frame[1] and box[2] >= frame[2] and box[3] <= frame[3]


def test_two_variables_tell_the_effects_between_them(browser: webdriver.Chrome, tmp_path: Path) -> None:
    result = ap.learn(ap.Oracle(ap.DAG.from_string("A --> C; B --> C; C --> D; A --> D")), selection_bias=False)
    write_report(result, tmp_path / "effects.html")
    open_file(browser, tmp_path / "effects.html")
    for name in ("C", "D"):
        run(browser, CLICK, node_element(browser, name))
    there = result.effect("C", "D")
    assert there.formula is not None
    assert "The effect of C on D: identified, by adjustment" in told(browser)
    assert there.reason in told(browser)
    assert there.formula in told(browser)
    assert "The effect of D on C: no effect" in told(browser)
    assert console(browser) == []


def test_two_variables_show_the_draws_of_sampled_graphs(browser: webdriver.Chrome, tmp_path: Path) -> None:
    data = ap.simulate.linear_gaussian(ap.DAG.from_string("A --> C; B --> C; C --> D"), 400, seed=1)
    result = ap.learn(data, method="bayes", effort=0.1, selection_bias=False)
    write_report(result, tmp_path / "sampled.html", data=data)
    open_file(browser, tmp_path / "sampled.html")
    for name in ("C", "D"):
        run(browser, CLICK, node_element(browser, name))
    found = result.effect("C", "D", data=data)
    assert str(found).splitlines()[0] in told(browser)
    drawn = browser.find_elements(By.CSS_SELECTOR, "#told svg.draws")
    assert len(drawn) == 2 and all(picture.size["height"] > 50 for picture in drawn)
    assert "median" in drawn[0].text
    assert console(browser) == []


def test_light_and_dark(page: webdriver.Chrome) -> None:
    colours = "const s = e => getComputedStyle(e); return [s(document.body).backgroundColor, s(document.body).color]"
    seen = []
    for scheme in ("light", "dark"):
        features = [
            {"name": "prefers-color-scheme", "value": scheme},
            {"name": "prefers-reduced-motion", "value": "reduce"},
        ]
        page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        seen.append([_brightness(colour) for colour in run(page, colours)])
    (light_paper, light_ink), (dark_paper, dark_ink) = seen
    assert light_paper - light_ink > 150
    assert dark_ink - dark_paper > 150


def _brightness(colour: str) -> float:
    red, green, blue = (float(part) for part in colour.removeprefix("rgb(").removesuffix(")").split(","))
    return (red + green + blue) / 3


def test_a_graph_too_large_to_draw_shows_the_edges_of_what_is_chosen(browser: webdriver.Chrome, tmp_path: Path) -> None:
    import numpy as np

    rng = np.random.default_rng(0)
    result = ap.learn(rng.normal(size=(300, 80)) + 3 * rng.normal(size=(300, 1)), max_r=0)
    write_report(result, tmp_path / "large.html")
    open_file(browser, tmp_path / "large.html")
    assert run(browser, VISIBLE) == []
    assert "choose a variable" in browser.find_element(By.ID, "told").text
    run(browser, CLICK, browser.find_element(By.CSS_SELECTOR, '[data-node="7"]'))
    own = [edge for edge in result.pag.edges() if "X7" in (edge.a, edge.b)]
    assert sorted(run(browser, VISIBLE)) == sorted(str(edge) for edge in own)
    assert f"{len(own)} edges" in browser.find_element(By.ID, "told").text
    run(browser, CLICK, browser.find_element(By.CSS_SELECTOR, '[data-node="3"]'))
    assert len(run(browser, VISIBLE)) == 1
    assert console(browser) == []


def test_contradictions_stand_in_a_banner_and_on_the_edges(browser: webdriver.Chrome, tmp_path: Path) -> None:
    write_report(contradicting(), tmp_path / "report.html")
    open_file(browser, tmp_path / "report.html")
    banner = find(browser, "#banner")
    assert banner.is_displayed()
    assert "A is a cause of B, B is a cause of C, and A is not a cause of C" in banner.text
    assert run(browser, "return document.querySelectorAll('.edge.doubted').length") == 3
    hints = run(browser, "return [...document.querySelectorAll('.edge.doubted title')].map(one => one.textContent)")
    assert all("(takes part in claims that cannot all be true)" in hint for hint in hints)
    run(browser, CLICK, find(browser, "#edges .edge"))
    assert "In a contradiction: A is a cause of B" in told(browser)
    slider = find(browser, "#slider")
    slider.send_keys(Keys.ARROW_LEFT)
    assert run(browser, "return document.querySelectorAll('.edge.withdrawn').length") == 1
    assert run(browser, "return document.querySelectorAll('.edge.doubted').length") == 0
    assert console(browser) == []


def test_the_threshold_hides_edges_that_seldom_come_again(page: webdriver.Chrome, tmp_path: Path) -> None:
    data = ap.simulate.linear_gaussian(ap.DAG.from_string("A --> B; C --> B; B --> D"), 100, seed=1)
    result = ap.bootstrap(data, method="icd", n=20, seed=1).result
    write_report(result, tmp_path / "again.html")
    open_file(page, tmp_path / "again.html")
    shares = [result.stability.share(edge) for edge in result.pag.edges()] if result.stability else []
    assert run(page, "return [...document.querySelectorAll('#edges .share')].map(e => e.textContent).sort()") == sorted(
        shown_share(share) for share in shares
    )
    least = round(20 * min(shares)) + 1
    move = "const t = document.getElementById('threshold'); t.value = arguments[0]; t.dispatchEvent(new Event('input'))"
    run(page, move, least)
    often = sum(20 * share >= least for share in shares)
    count = "return document.querySelectorAll('#edges .edge:not(.rare):not(.gone)').length"
    assert run(page, count) == often
    assert 0 < often < len(shares)
    assert run(page, "return document.getElementById('sure-of').textContent") == (
        f"{least} of 20 resamples: {often} of {len(shares)} edges"
    )
    assert console(page) == []


def test_counts_of_resamples_are_not_rounded(browser: webdriver.Chrome, tmp_path: Path) -> None:
    data = ap.simulate.linear_gaussian(ap.DAG.from_string("A --> B; C --> B"), 300, seed=1)
    boot = ap.bootstrap(data, method="icd", n=2, seed=1)
    none = ap.PAG(np.zeros_like(boot.result.pag.marks), boot.result.pag.names)
    graphs = (boot.result.pag,) * 1234 + (none,) * 1111
    stability = replace(boot.result.stability, graphs=graphs)  # type: ignore[type-var]
    write_report(replace(boot.result, stability=stability), tmp_path / "many.html")
    open_file(browser, tmp_path / "many.html")
    cells = "return [...document.querySelectorAll('#table td[data-heading^=\"Of \"]')].map(e => e.textContent)"
    assert [text for text in run(browser, cells) if text] == ["1,234 (0.53)"] * len(boot.result.pag.edges())


def test_without_resamples_there_is_no_threshold(browser: webdriver.Chrome, tmp_path: Path) -> None:
    write_report(ap.learn(ap.Oracle(ap.DAG.from_string("A --> B; C --> B"))), tmp_path / "plain.html")
    open_file(browser, tmp_path / "plain.html")
    assert not find(browser, "#sure").is_displayed()
