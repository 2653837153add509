"""Every door has every choice, with the same name and default: they are declared once."""

from __future__ import annotations

import inspect
from dataclasses import fields
from typing import Any

import numpy as np
import pytest

import anypag as ap
from anypag.choices import DECLARED, DEFAULTS, Choices
from anypag.cli.main import app
from anypag.cli.options import TYPED, spelled
from anypag.cli.series import CHOICES
from anypag.errors import Option, ParameterError
from anypag.results.files import load_result, save_result
from anypag.results.schema import recorded


def defaults_of(function: Any) -> dict[str, Any]:
    parameters = inspect.signature(function).parameters.values()
    return {part.name: part.default for part in parameters if part.kind is part.KEYWORD_ONLY}


def test_learn_spells_out_every_choice() -> None:
    assert defaults_of(ap.learn) == DEFAULTS


def test_bootstrap_spells_out_every_choice() -> None:
    found = defaults_of(ap.bootstrap)
    assert {name: found[name] for name in found if name not in {"seed", "resample", "cluster"}} == DEFAULTS


def test_iterate_has_the_choices_about_data_and_search() -> None:
    """How a run goes is up to whoever iterates; how many work on it is said here all the same."""
    workers = {"threads", "n_jobs"}
    wanted = {name: DEFAULTS[name] for name, choice in DECLARED.items() if choice.part != "run" or name in workers}
    found = defaults_of(ap.iterate)
    assert callable(found.pop("tick"))
    assert found == wanted


@pytest.mark.parametrize("estimator", [ap.ICD, ap.FCI])
def test_estimators_have_every_choice_but_the_method(estimator: Any) -> None:
    assert {item.name: item.default for item in fields(estimator)} == {
        name: default for name, default in DEFAULTS.items() if name != "method"
    }


NOT_OF_SERIES = {"initial", "r0", "max_sets", "sepset", "possible_dsep", "dsep_max_r", "missing", "singular", "device"}
NOT_OF_SERIES |= {"stop", "n_jobs"}
"""Windows have no missing values and keep every process; searches over shifts set themselves up."""


def test_learn_series_has_every_choice_but_those_that_windows_decide() -> None:
    found = defaults_of(ap.learn_series)
    assert {name: found.pop(name) for name in ("time", "unit")} == {"time": None, "unit": None}
    assert DEFAULTS["selection_bias"] and not found["selection_bias"]
    wanted = {name: default for name, default in DEFAULTS.items() if name not in NOT_OF_SERIES}
    assert found == {**wanted, "selection_bias": False}


def test_the_command_learn_series_has_the_choices_of_the_function_that_can_be_typed() -> None:
    """`--selection-bias` is declared apart, as its default is the opposite of that of `learn`."""
    assert set(CHOICES) == set(TYPED) - NOT_OF_SERIES - {"selection_bias", "threads"}


def test_the_command_line_has_every_choice_that_can_be_typed() -> None:
    learn: Any = app.get_command(None, "learn")
    options = {option.name: option for option in learn.params}
    for name in TYPED:
        assert spelled(Option(name)) in options[name].opts
        assert options[name].help == DECLARED[name].help
        default = options[name].default
        wanted = False if DECLARED[name].typed == "off" else DEFAULTS[name]
        assert getattr(default, "value", default) == wanted, name
    untyped = {"stop", "progress", "initial", "r0", "names"}
    assert set(TYPED) == set(DECLARED) - untyped


def test_every_choice_has_help_and_a_check_that_its_default_passes() -> None:
    for name, choice in DECLARED.items():
        assert choice.help.endswith(".") and choice.check.holds(DEFAULTS[name]), name


def test_the_docstring_of_learn_names_every_choice() -> None:
    text = inspect.getdoc(ap.learn) or ""
    assert all(f"\n    {name}: " in text for name in DECLARED)


def test_recorded_choices_come_back_from_a_file() -> None:
    result = ap.learn(ap.Oracle(ap.DAG.from_string("A --> B; B --> C")), alpha=0.03, max_r=1, selection_bias=False)
    back = load_result(save_result(result))
    assert recorded(back.choices) == recorded(result.choices)
    assert back.choices.alpha == 0.03 and back.choices.sepset == "first"


@pytest.mark.parametrize(
    "wrong",
    [{"alpha": 2}, {"test": "z"}, {"kinds": 3}, {"names": "ab"}, {"singular": "drop"}, {"threads": -1}, {"method": 3}],
)
def test_a_wrong_choice_is_refused_by_its_name(wrong: dict[str, Any]) -> None:
    (name,) = wrong
    with pytest.raises(ParameterError) as caught:
        Choices(**wrong)
    assert Option(name) in caught.value.sentence.parts
    assert f"The option {name!r} must be {DECLARED[name].check.wanted}; got" in str(caught.value)


def test_alpha_is_not_chosen_from_the_data() -> None:
    """No published criterion did better than a fixed one; who asks for it hears that."""
    with pytest.raises(
        ParameterError, match=r'^alpha="auto" is not offered: .* \(StARS\) nor .* \(OCT\) chose an alpha'
    ):
        ap.learn(np.zeros((3, 2)), method="icd", alpha="auto")  # type: ignore[arg-type]
