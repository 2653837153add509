"""The studio in a real browser: open a table, mend it, tiers, learn, stop, an edge, an effect, take away; by pointer
and by keyboard, at both widths, with hostile names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from selenium import webdriver
from selenium.common.exceptions import NoSuchElementException, StaleElementReferenceException
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import Select
from test_session import _home  # noqa: F401

import anypag as ap
from anypag.studio.server import StudioServer
from browsers import look_at, opened
from studio_examples import served, small_table, until, write

HOSTILE = "<img src=x onerror=alert(1)>"
CLICK = """arguments[0].dispatchEvent(new MouseEvent("click", {bubbles: true}))"""
EDGES = """return [...document.querySelectorAll("#edges .edge:not(.gone)")].map(e => e.getAttribute("aria-label"))"""
PRESS = """
const button = [...document.querySelectorAll("button")].find(one => one.textContent === arguments[0]);
button?.click();
return Boolean(button)
"""
KEY = """
const chip = [...document.querySelectorAll(".chip")].find(one => one.textContent === arguments[0]);
chip.focus();
chip.dispatchEvent(new KeyboardEvent("keydown", {key: arguments[1], bubbles: true, cancelable: true}));
"""
DRAG = """
const chip = [...document.querySelectorAll(".chip")].find(one => one.textContent === arguments[0]);
const tier = [...document.querySelectorAll(".tier")].at(-1), data = new DataTransfer();
chip.dispatchEvent(new DragEvent("dragstart", {bubbles: true, dataTransfer: data}));
tier.dispatchEvent(new DragEvent("dragover", {bubbles: true, cancelable: true, dataTransfer: data}));
tier.dispatchEvent(new DragEvent("drop", {bubbles: true, cancelable: true, dataTransfer: data}));
"""


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[webdriver.Chrome]:
    yield from opened(tmp_path_factory.mktemp("chromium"))


@pytest.fixture
def page(browser: webdriver.Chrome) -> Iterator[Page]:
    with served() as server:
        browser.get(server.address)
        browser.get_log("browser")  # type: ignore[no-untyped-call]
        shown = Page(browser, server)
        yield shown
        complaints = browser.get_log("browser")  # type: ignore[no-untyped-call]
        assert [one["message"] for one in complaints if "favicon" not in one["message"]] == []


def holds_now(holds: Callable[[], Any]) -> bool:
    """Does it hold? Not while the page draws the element anew."""
    try:
        return bool(holds())
    except (NoSuchElementException, StaleElementReferenceException):
        return False


def done(action: Callable[[], object]) -> None:
    """Do something with an element, as soon as it is there."""
    until(lambda: holds_now(lambda: (action(), True)))


class Page:
    """The page of a studio."""

    def __init__(self, browser: webdriver.Chrome, server: StudioServer) -> None:
        self.browser, self.server = browser, server

    def find(self, selector: str) -> WebElement:
        return self.browser.find_element(By.CSS_SELECTOR, selector)

    def all(self, selector: str) -> list[WebElement]:
        return self.browser.find_elements(By.CSS_SELECTOR, selector)

    def run(self, script: str, *arguments: Any) -> Any:
        return self.browser.execute_script(script, *arguments)

    def text(self, selector: str) -> str:
        """The text of an element, also of one that is not shown now."""
        return str(self.run("return document.querySelector(arguments[0]).textContent", selector))

    def wait_for(self, word: str) -> None:
        until(lambda: self.text("#status").startswith(word))

    def part(self, name: str) -> None:
        self.click(f"[data-part={name}]")

    def click(self, selector: str) -> None:
        done(lambda: self.find(selector).click())

    def key(self, selector: str, key: str, place: int = 0) -> None:
        """Press a key on the element at this place of those that are selected."""
        done(lambda: self.all(selector)[place].send_keys(key))

    def choose(self, selector: str, value: str) -> None:
        done(lambda: Select(self.find(selector)).select_by_value(value))

    def press(self, label: str) -> None:
        """Press the button with this label, and wait until the table was checked again."""
        before = self.server.session.board.run
        assert self.run(PRESS, label)
        until(lambda: self.server.session.board.run > before)
        until(lambda: not self.text("#status").startswith("Reading"))

    @property
    def edges(self) -> list[str]:
        return sorted(self.run(EDGES))


def test_from_a_file_to_an_effect_by_pointer(page: Page, tmp_path: Path) -> None:
    path = small_table(tmp_path / "study.csv")
    columns = read(path)
    write(
        path, {**columns, "same": [1.0] * 300, "id": range(300), "d": np.where(columns["d"] > 1.5, -999, columns["d"])}
    )
    page.find("#pick").send_keys(str(path))
    page.wait_for("Ready")
    assert page.text("#file") == "study.csv" and page.text("#size") == "300 rows, 5 of 7 columns"
    assert len(page.all(".column .bars rect")) > 50 and "Left out: 'same'" in page.text("#findings")
    page.press("-999 means a gap")
    assert "gaps" in page.text("#columns")
    page.click("[data-key='on id']")
    until(lambda: page.server.session.board.part("table")["columns"][-1]["is_off"])
    page.wait_for("Ready")

    page.part("known")
    page.run(DRAG, "a")
    until(lambda: page.server.session.board.part("known")["tiers"] == [["a"]])
    page.wait_for("Ready")
    page.run(DRAG, "e")
    until(lambda: page.server.session.board.part("known")["tiers"] == [["a"], ["e"]])
    page.wait_for("Ready")

    page.part("learn")
    page.click("#go")
    page.wait_for("Done")
    known = ap.Knowledge.from_text("tiers: a | e")
    table = ap.read_table(path, gaps=[*ap_words(), "-999"])
    expected = ap.learn(table, names=[*"abcde", "same"], knowledge=known)
    until(lambda: page.edges == sorted(str(edge) for edge in expected.pag.edges()))
    assert page.text("#steps").count("r = ") == sum(item.info.has_r for item in expected.history)

    done(lambda: page.run(CLICK, edge(page, str(expected.pag.edge("c", "e")))))
    until(lambda: "per unit" in page.text("#told"))
    told = page.text("#told")
    assert str(expected.pag.edge("c", "e")) in told and "Probability" in told and "95 %" in told
    assert page.all("#told svg.draws rect")

    page.part("take")
    assert "ap.learn(table, names=['a', 'b', 'c', 'd', 'e', 'same']" in page.text("#python")
    assert "--drop=id" in page.text("#shell") and "-999" in page.text("#shell")


def test_by_keyboard_alone_with_stop(page: Page, tmp_path: Path) -> None:
    page.server.open(small_table(tmp_path / "study.csv"))
    page.wait_for("Ready")
    page.key("[data-part=table]", Keys.ARROW_RIGHT)
    until(lambda: holds_now(lambda: "know" in page.browser.switch_to.active_element.text))
    assert page.find("[data-part=known]").get_attribute("aria-selected") == "true"
    page.run(KEY, "e", "ArrowRight")
    until(lambda: page.server.session.board.part("known")["tiers"] == [["e"]])
    until(lambda: holds_now(lambda: page.browser.switch_to.active_element.text == "e"))
    page.run(KEY, "a", "ArrowRight")
    until(lambda: page.server.session.board.part("known")["tiers"] == [["e", "a"]])
    page.run(KEY, "e", "ArrowRight")
    until(lambda: page.server.session.board.part("known")["tiers"] == [["a"], ["e"]])
    page.wait_for("Ready")

    done(lambda: Select(page.find("#words")).select_by_visible_text("is a cause of"))
    page.choose("#left", "e")
    page.choose("#right", "a")
    page.key("#say button", Keys.ENTER)
    until(lambda: "contradicts itself" in page.text("#contradiction"))
    page.key("#statements button", Keys.ENTER)
    until(lambda: not page.text("#contradiction"))
    page.wait_for("Ready")

    page.part("learn")
    page.key("#go", Keys.ENTER)
    until(lambda: page.text("#go") == "Stop" or page.text("#status").startswith("Done"))
    if page.text("#go") == "Stop":
        page.key("#go", Keys.ENTER)
        until(lambda: page.text("#go") in {"Go on", "Learned", "Learn"})
        page.key("#go", Keys.ENTER)
    page.wait_for("Done")
    until(lambda: page.edges)
    page.key("#nodes .node", Keys.ENTER, 2)
    until(lambda: holds_now(lambda: page.find("#told h2").text == "c"))
    page.key("#nodes .node", Keys.ENTER, 3)
    until(lambda: "effect" in page.text("#told").lower())


def test_hostile_names_stay_text(page: Page, tmp_path: Path) -> None:
    columns = read(small_table(tmp_path / "x.csv"))
    path = tmp_path / "x'<b>&.csv"
    write(path, {HOSTILE: columns["a"], "</script><script>alert(2)": columns["b"], "a\" onclick='x'": columns["c"]})
    page.server.open(path)
    page.wait_for("Ready")
    assert page.text("#file") == path.name and HOSTILE in page.text("#columns")
    page.server.session.change("choice", "method", "icd")
    page.part("learn")
    until(lambda: holds_now(lambda: page.find("#go").is_enabled()))
    page.click("#go")
    page.wait_for("Done")
    until(lambda: page.edges)
    for name in ("known", "ask", "take", "table"):
        page.part(name)
        assert not page.all("img") and len(page.all("script")) == 2


@pytest.mark.parametrize("width", [1280, 390])
def test_nothing_is_wider_than_the_screen(page: Page, tmp_path: Path, width: int) -> None:
    columns = read(small_table(tmp_path / "x.csv"))
    noise = np.random.default_rng(3).normal(size=(40, 300))
    many = {f"a rather long name of column {k}": noise[k] for k in range(40)}
    write(tmp_path / "wide.csv", {**columns, **many, "unbroken" * 12: columns["a"] + noise[0] + columns["d"] ** 2})
    page.server.open(tmp_path / "wide.csv")
    page.wait_for("Ready")
    page.server.session.change("choice", "method", "icd")
    look_at(page.browser, width, 800)
    page.part("learn")
    until(lambda: holds_now(lambda: page.find("#go").is_enabled()))
    page.click("#go")
    page.wait_for("Done")
    until(lambda: page.edges)
    page.key("#nodes .node", Keys.ENTER)
    for name in ("table", "known", "learn", "ask", "take"):
        page.part(name)
        over = page.run("return document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert over <= 0, name
    look_at(page.browser, 1366, 768)


def test_a_second_page_sees_the_same_and_a_page_that_comes_back_goes_on(page: Page, tmp_path: Path) -> None:
    path = small_table(tmp_path / "study.csv")
    page.server.open(path)
    page.wait_for("Ready")
    page.server.session.change("choice", "method", "icd")
    page.server.session.go()
    page.wait_for("Done")
    first = page.browser.current_window_handle
    page.browser.switch_to.new_window("tab")
    page.browser.get(page.server.address)
    page.wait_for("Done")
    expected = sorted(str(edge) for edge in ap.learn(path, method="icd").pag.edges())
    until(lambda: page.edges == expected)
    page.browser.close()
    page.browser.switch_to.window(first)
    until(lambda: page.edges == expected)


def edge(page: Page, label: str) -> WebElement:
    return next(one for one in page.all("#edges .edge") if one.get_attribute("aria-label") == label)


def read(path: Path) -> dict[str, Any]:
    import polars

    frame = polars.read_csv(path)
    return {name: frame[name].to_numpy() for name in frame.columns}


def ap_words() -> list[str]:
    from anypag.choices import MISSING_WORDS

    return list(MISSING_WORDS)
