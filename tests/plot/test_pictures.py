"""Pictures as SVG and PNG: whole, well-formed, and clear about what is missing."""

import re
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import anypag as ap
from anypag.errors import AnypagError, ParameterError
from anypag.graphs.marks import EDGE_SYMBOLS
from anypag.plot import MissingExtraError, figure, svg, write_picture

HOSTILE = "<img src=x onerror=alert(1)>"
SPACE = "{http://www.w3.org/2000/svg}"
ALL_KINDS = "; ".join(f"A{i} {symbol} B{i}" for i, symbol in enumerate(EDGE_SYMBOLS))


def test_every_edge_carries_its_two_marks() -> None:
    root = ET.fromstring(svg(ap.PAG.from_string(ALL_KINDS), legend=False))
    groups = [group for group in root.iter(f"{SPACE}g") if group.get("class", "").startswith("edge")]
    assert len(groups) == 9
    for group, symbol in zip(groups, EDGE_SYMBOLS, strict=True):
        title = group.find(f"{SPACE}title")
        assert title is not None and title.text is not None and title.text.split()[1] == symbol
        assert len(list(group.iter(f"{SPACE}circle"))) == symbol.count("o")
        heads = [path for path in group.iter(f"{SPACE}path") if path.get("class") == "head"]
        assert len(heads) == symbol.count("<") + symbol.count(">")


def test_the_legend_explains_the_kinds_of_edges_there_are() -> None:
    text = svg(ap.PAG.from_string("A o-> B; B --> C"))
    assert "B is not a cause of A; A may be a cause of B" in text
    assert "A is a cause of B, or of being in the sample" in text
    assert "a common cause was not measured" not in text
    assert "legend" not in re.sub(
        "<style>.*?</style>", "", svg(ap.PAG.from_string("A o-> B"), legend=False), flags=re.S
    )


def test_the_legend_of_a_search_without_selection_does_not_mention_it() -> None:
    result = ap.learn(ap.Oracle(ap.DAG.from_string("A --> C; B --> C; C --> D")), selection_bias=False)
    assert "sample" not in svg(result)
    assert "A is a cause of B<" in svg(result)


@settings(deadline=None, max_examples=40)
@given(st.lists(st.text(min_size=1).filter(str.strip), min_size=2, max_size=4, unique=True))
def test_any_name_stays_text(names: list[str]) -> None:
    pag = ap.PAG.from_edges([ap.Edge(names[0], names[1], ap.Mark.CIRCLE, ap.Mark.ARROW)], names)
    root = ET.fromstring(svg(pag).encode())
    assert sum(element.get("class") == "node" for element in root.iter()) == len(names)


def test_a_hostile_name_is_no_markup() -> None:
    text = svg(ap.PAG.from_string(f'"{HOSTILE}" o-> B'))
    assert "<img" not in text
    titles = [title.text for title in ET.fromstring(text).iter(f"{SPACE}title")]
    assert HOSTILE in titles


@pytest.mark.parametrize("text", ["A", "A; B; C"])
def test_graphs_without_edges(text: str) -> None:
    assert ET.fromstring(svg(ap.PAG.from_string(text))).get("viewBox")


def test_files_by_extension(tmp_path: Path) -> None:
    pag = ap.PAG.from_string('"a $x$ name" o-> B; B --> C; C <-> D; D --- E; E --o F')
    write_picture(pag, tmp_path / "graph.svg")
    write_picture(pag, tmp_path / "graph.PNG")
    write_picture(pag, tmp_path / "graph.pdf")
    assert ET.parse(tmp_path / "graph.svg").getroot().tag == f"{SPACE}svg"
    assert (tmp_path / "graph.PNG").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "graph.pdf").read_bytes().startswith(b"%PDF")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["graph.PNG", "graph.pdf", "graph.svg"]
    with pytest.raises(ParameterError, match=r"ends in \.svg, \.png or \.pdf; got 'graph\.jpg'"):
        write_picture(pag, tmp_path / "graph.jpg")


def test_the_figure_has_the_size_and_the_names_of_the_picture() -> None:
    drawn = figure(ap.PAG.from_string("smoking o-> tar; tar --> cancer"), legend=False)
    texts = [text.get_text() for text in drawn.axes[0].texts]
    assert texts == ["smoking", "tar", "cancer"]
    root = ET.fromstring(svg(ap.PAG.from_string("smoking o-> tar; tar --> cancer"), legend=False))
    assert drawn.get_size_inches()[0] * 96 == pytest.approx(float(root.get("width", "0")), rel=1e-3)


@pytest.mark.parametrize(("module", "draw"), [("igraph", svg), ("matplotlib.figure", figure)])
def test_a_missing_library_is_named_with_the_remedy(module: str, draw: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    library = module.partition(".")[0]
    with pytest.raises(
        MissingExtraError, match=rf"Pictures need {library}: pip install {library}, or .* 'plot'"
    ) as caught:
        draw(ap.PAG.from_string("A o-> B"))  # type: ignore[operator]
    assert isinstance(caught.value, AnypagError)
    assert isinstance(caught.value, ImportError)


def test_notebooks_show_results_and_graphs_by_themselves() -> None:
    result = ap.learn(ap.Oracle(ap.DAG.from_string("A --> B; B --> C")))
    assert result._repr_svg_() == svg(result)
    assert result.pag._repr_svg_() == svg(result.pag)
    assert [text.get_text() for text in result.plot().texts][:3] == ["A", "B", "C"]


def test_notebooks_fall_back_to_text_where_a_library_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "igraph", None)
    assert ap.PAG.from_string("A o-> B")._repr_svg_() is None


def test_an_arrow_of_a_dag_is_simply_a_cause() -> None:
    assert "sample" not in svg(ap.DAG.from_string("A --> B"))


def test_contradicting_edges_are_dashed_and_a_banner_says_why(tmp_path: Path) -> None:
    good, bad = (
        ap.PAG.from_string("A --> B; B --> C; A o-> C"),
        ap.PAG.from_string("A --> B; B --> C; A <-> C; D o-> C"),
    )
    assert "doubted" not in re.sub("<style>.*?</style>", "", svg(good), flags=re.S)
    text = svg(bad, legend=False)
    assert len(re.findall(r'class="edge \w+ doubted"', text)) == 3
    assert text.count("stroke-dasharray") == 3
    assert "1 contradiction: dashed edges take part in claims that cannot all be true." in text
    assert any("1 contradiction" in shown.get_text() for shown in figure(bad).axes[0].texts)
    write_picture(bad, tmp_path / "bad.png")
    assert (tmp_path / "bad.png").read_bytes()[:4] == b"\x89PNG"
