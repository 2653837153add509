"""The report at the widths of a phone, a laptop and a large screen, by facts: nothing overlaps, nothing is cut."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from selenium import webdriver
from test_browser import browser as browser  # the fixture, and with it the reason to skip
from test_browser import open_file, run

import anypag as ap

SIZES = [(390, 844), (1280, 757), (1920, 1080)]
BOXES = """return [...document.querySelectorAll(arguments[0])].filter(e => e.getClientRects().length).map(e => {
  const r = e.getBoundingClientRect(); return [r.left, r.top, r.right, r.bottom]; })"""
CUT = """return [...document.querySelectorAll("header *, main *:not(svg *):not(option)")].filter(e =>
  [...e.childNodes].some(c => c.nodeType === 3 && c.textContent.trim()) && e.scrollWidth > e.clientWidth + 1
  && e.clientWidth
  && getComputedStyle(e).overflow !== "auto" && e.tagName !== "PRE" && getComputedStyle(e).display !== "inline")
  .map(e => e.tagName + ": " + e.textContent.slice(0, 40))"""


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    rng = np.random.default_rng(0)
    a, b, hidden = rng.normal(size=(3, 800))
    c = a + b + rng.normal(size=800)
    columns = {"age": a, "a rather long name of a column": b, "c": c, "d": c + hidden + rng.normal(size=800)}
    columns["e"] = hidden + rng.normal(size=800)
    path = folder / "a study.csv"
    path.write_text(
        "\n".join([",".join(columns), *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True))])
    )
    learned = ap.bootstrap(path, method="icd", n=5, seed=0)
    learned.result.save(folder / "report.html")
    return folder / "report.html"


@pytest.fixture(params=SIZES, ids=lambda size: str(size[0]))
def page(browser: webdriver.Chrome, report: Path, request: pytest.FixtureRequest) -> Iterator[webdriver.Chrome]:
    width, height = request.param
    screen = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
    open_file(browser, report)
    yield browser
    screen = {"width": 1366, "height": 768, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)


def boxes(page: webdriver.Chrome, selector: str) -> list[list[float]]:
    found: list[list[float]] = run(page, BOXES, selector)
    return found


def overlap(one: list[float], other: list[float], allowed: float = 1.0) -> bool:
    return (
        min(one[2], other[2]) - max(one[0], other[0]) > allowed
        and min(one[3], other[3]) - max(one[1], other[1]) > allowed
    )


def test_nothing_is_wider_than_the_screen_and_no_text_is_cut(page: webdriver.Chrome) -> None:
    assert run(page, "return document.documentElement.scrollWidth - innerWidth") <= 0
    assert run(page, CUT) == []


def test_parts_of_the_page_do_not_overlap(page: webdriver.Chrome) -> None:
    for selector in ("header > *", "main > *", "aside > *", ".graph > :not(.zoom)", ".replay > *"):
        parents = {"header > *": 1, "main > *": 1}
        found = boxes(page, selector)
        assert len(found) > parents.get(selector, 0)
        for one, other in combinations(found, 2):
            assert not overlap(one, other), selector


def test_names_and_marks_keep_apart(page: webdriver.Chrome) -> None:
    names = boxes(page, "#nodes .node rect")
    assert len(names) == 5
    assert not any(overlap(one, other) for one, other in combinations(names, 2))
    shares = boxes(page, "#edges .edge:not(.gone) .share")
    assert shares and not any(overlap(share, name) for share in shares for name in names)
    marks = [boxes(page, f"#edges .edge:not(.gone):nth-child({k}) use") for k in range(1, 20)]
    for pair in (pair for pair in marks if len(pair) == 2):
        assert not overlap(pair[0], pair[1]), "the two marks of a short edge run into each other"


def test_the_first_screen_explains_itself(page: webdriver.Chrome, request: Any) -> None:
    heading = page.find_element("tag name", "h1").text
    assert heading.startswith("a study.csv: 5 variables")
    told = page.find_element("id", "told")
    assert "Each box is a column of the table" in told.text
    if run(page, "return innerWidth") >= 1280:
        assert told.rect["y"] < run(page, "return innerHeight")
        assert run(page, "return arguments[0].scrollHeight <= arguments[0].clientHeight + 1", told), "the words are cut"


def test_the_table_is_cards_on_a_phone(page: webdriver.Chrome) -> None:
    is_phone = run(page, "return innerWidth") < 500
    display = run(page, "return getComputedStyle(document.querySelector('#table tbody tr')).display")
    assert display == ("block" if is_phone else "table-row")
    row = page.find_element("css selector", "#table tbody tr")
    assert row.find_element("css selector", "[data-heading=Correlation]").text
    rule = run(page, "return document.querySelector('#table abbr').title")
    assert rule.startswith("R")


def test_what_it_rests_on_is_told(page: webdriver.Chrome) -> None:
    assumed = page.find_element("id", "assumed").text
    assert "Causes do not run in a circle." in assumed
    assert "straight lines" in assumed and "selection is allowed for" in assumed
    assert "can be true at once" in page.find_element("id", "made").text
    assert "resamples" in page.find_element("id", "made").text


def test_names_can_be_read_at_any_width_and_a_part_is_said_to_be_one(page: webdriver.Chrome) -> None:
    height = run(page, "return document.querySelector('#nodes text').getBoundingClientRect().height")
    assert height >= 11
    screen = boxes(page, "#graph")[0]
    is_cut = any(box[0] < screen[0] or box[2] > screen[2] for box in boxes(page, "#nodes .node rect"))
    assert page.find_element("id", "cut").is_displayed() == is_cut == (run(page, "return innerWidth") < 500)
    page.find_element("id", "fit").click()
    assert not any(box[0] < screen[0] - 1 or box[2] > screen[2] + 1 for box in boxes(page, "#nodes .node rect"))


def test_the_table_begins_with_what_comes_again_most_often_with_its_share(page: webdriver.Chrome) -> None:
    cells = run(page, "return [...document.querySelectorAll('#table td:last-child')].map(cell => cell.textContent)")
    counts = [int(cell.split(" (")[0]) for cell in cells]
    assert counts == sorted(counts, reverse=True) and cells[0] == f"{counts[0]} ({counts[0] / 5:.2f})"


def test_the_page_says_how_to_read_an_effect(page: webdriver.Chrome) -> None:
    assert "a second variable for the effects between the two" in page.find_element("id", "told").text


@pytest.fixture(scope="module")
def sampled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    system = ap.simulate.random_system(7, 2.5, seed=1)
    data = ap.simulate.linear_gaussian(system.dag, 150, latent=system.latent, seed=1)
    path = tmp_path_factory.mktemp("sampled") / "report.html"
    ap.learn(data, method="bayes", effort=0.1).save(path)
    return path


@pytest.mark.parametrize(("width", "is_stacked"), [(390, True), (1280, False), (1920, False)])
def test_the_most_probable_graphs_stand_side_by_side_or_stacked(
    browser: webdriver.Chrome, sampled: Path, width: int, is_stacked: bool
) -> None:
    screen = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
    open_file(browser, sampled)
    figures = boxes(browser, "#probable figure")
    assert len(figures) == 3
    assert len({top for _, top, _, _ in figures}) == (3 if is_stacked else 1)
    assert not any(overlap(one, other) for k, one in enumerate(figures) for other in figures[:k])
    assert run(browser, CUT) == []
    assert all(0 <= left < right <= width for left, _, right, _ in figures)
    assert run(browser, "return document.querySelectorAll('#probable li').length") > 0


def test_the_table_of_a_search_by_score_has_probabilities_and_nothing_empty(
    browser: webdriver.Chrome, sampled: Path
) -> None:
    open_file(browser, sampled)
    assert "An edge below 0.50 can appear here" in browser.find_element("id", "told").text
    headings = run(browser, "return [...document.querySelectorAll('#table th')].map(e => e.textContent)")
    assert headings == ["Pair", "Probability", "Joined at all", "Correlation"]
    rows = "return [...document.querySelectorAll('#table tbody tr')].map(r => [...r.cells].map(c => c.textContent))"
    shares = [(float(row[1].lstrip("<>")), float(row[2].lstrip("<>"))) for row in run(browser, rows)]
    assert shares
    assert all(0 <= probability <= joined <= 1 for probability, joined in shares)
