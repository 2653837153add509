"""The public names: other people's scripts rely on them."""

from __future__ import annotations

import inspect
import subprocess
import sys

import pytest

import anypag

PROMISED = {
    "AnypagError",
    "AnypagWarning",
    "CITest",
    "DAG",
    "Edge",
    "Effect",
    "Auto",
    "Bayes",
    "FCI",
    "FisherZ",
    "GSquared",
    "ICD",
    "MAG",
    "Mark",
    "Oracle",
    "PAG",
    "PermutationChiSquared",
    "Queries",
    "Result",
    "effect",
    "from_callable",
    "is_adjustment_set",
    "is_separated",
    "is_visible",
    "iterate",
    "latent_projection",
    "learn",
    "metrics",
    "n_oracle",
    "simulate",
    "true_pag",
}
WITHOUT_EXAMPLE = {"AnypagError", "AnypagWarning", "CITest", "Effect", "FCI", "Mark", "Result", "metrics"}
"""An error and a warning, a protocol, an enumeration, a module, and what `learn` shows in use."""


def test_every_promised_name_is_there() -> None:
    assert set(anypag.__all__) >= PROMISED
    assert len(set(anypag.__all__)) == len(anypag.__all__)


@pytest.mark.parametrize("name", sorted(anypag.__all__))
def test_a_public_name_loads_and_says_what_it_is(name: str) -> None:
    value = getattr(anypag, name)
    assert name in dir(anypag)
    text = inspect.getdoc(value)
    assert text
    assert ">>>" in text or name in WITHOUT_EXAMPLE or name not in PROMISED


@pytest.mark.parametrize("name", sorted(set(anypag.__all__) - {"metrics", "simulate"}))
def test_a_public_name_lives_in_the_package(name: str) -> None:
    value = getattr(anypag, name)
    assert value.__name__ == name
    assert value.__module__.startswith("anypag.")


def test_a_name_is_loaded_when_it_is_used() -> None:
    code = "import anypag; before = 'PAG' in vars(anypag); anypag.PAG; print(before, 'PAG' in vars(anypag))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]


def test_a_star_import_gives_all_names() -> None:
    found: dict[str, object] = {}
    exec("from anypag import *", found)
    assert set(anypag.__all__) <= found.keys()


def test_dir_lists_every_name_once_and_nothing_else() -> None:
    listed = anypag.__dir__()
    assert set(anypag.__all__) == {name for name in listed if not name.startswith("__")}
    assert len(set(listed)) == len(listed)
    assert listed == sorted(listed)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match=r"^module 'anypag' has no attribute 'PGA'$"):
        anypag.PGA  # noqa: B018
    assert not hasattr(anypag, "nothing")


def test_the_signatures_of_the_design() -> None:
    """Names and order of the arguments that scripts pass."""
    expected = {
        "PAG": ["marks", "names"],
        "MAG": ["marks", "names"],
        "DAG": ["adjacency", "names"],
        "is_separated": ["graph", "x", "y", "z"],
        "Oracle": ["graph", "latent", "selection"],
        "true_pag": ["dag", "latent", "selection"],
        "latent_projection": ["dag", "latent", "selection"],
        "Queries": ["x", "y", "z"],
        "effect": [
            "graph",
            "cause",
            "outcome",
            "given",
            "within",
            "selection_bias",
            "data",
            "model",
            "assume",
            "learner",
            "by",
            "cluster",
            "confounding",
        ],
        "is_adjustment_set": ["graph", "x", "y", "z", "selection_bias"],
        "is_visible": ["graph", "a", "b"],
    }
    found = {name: list(inspect.signature(getattr(anypag, name)).parameters) for name in expected}
    assert found == expected
