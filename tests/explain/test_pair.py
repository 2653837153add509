"""One pair explained: edges, missing edges, conflicts, early stops, bare graphs."""

import json
from pathlib import Path

import pytest

import anypag as ap
from anypag.errors import GraphError
from anypag.explain import explain
from anypag.explain.facts import facts_of
from anypag.explain.words import EndClaim
from anypag.graphs.marks import Mark
from anypag.results.result import Result


def learned(text: str, **options: object) -> Result:
    return ap.learn(ap.Oracle(ap.DAG.from_string(text)), **options)  # type: ignore[arg-type]


def test_an_edge_tells_what_each_end_means_and_which_rule_set_it() -> None:
    told = explain(learned("storm --> fire; arson --> fire; fire --> smoke"), "smoke", "fire")
    assert str(told.edge) == "smoke <-- fire"
    smoke, fire = told.ends
    assert (smoke.at, smoke.mark, smoke.claim, smoke.rule) == ("smoke", Mark.ARROW, EndClaim.NO, 1)
    assert (fire.at, fire.mark, fire.claim, fire.rule) == ("fire", Mark.TAIL, EndClaim.YES, 1)
    assert smoke.meaning == "smoke is not a cause of fire."
    assert smoke.why is not None and "arson and smoke are independent given fire" in smoke.why


def test_a_missing_edge_tells_its_separating_set_p_n_and_r() -> None:
    sample = ap.simulate.linear_gaussian(ap.DAG.from_string("A --> B; B --> C"), 500, seed=1)
    result = ap.learn(sample, method="icd")
    told = explain(result, "C", "A")
    assert told.separation == result.sepsets["A", "C"]
    assert told.separation is not None and told.separation.given == ("B",)
    text = str(told)
    assert text.startswith(
        "C   A   (no edge)\n  If the tests are right:\n  C and A are independent given B: neither is a direct cause"
    )
    assert f"Found at r = 1 with p = {told.separation.p:.3g}, n = 500." in text


def test_independence_without_conditions_says_more() -> None:
    told = explain(learned("storm --> fire; arson --> fire"), "storm", "arson")
    assert told.summary == "storm and arson are independent: neither is a cause of the other, and they share no cause."


def test_a_kept_edge_tells_its_largest_p_value() -> None:
    sample = ap.simulate.linear_gaussian(ap.DAG.from_string("A --> B; B --> C"), 500, seed=1)
    result = ap.learn(sample, method="icd", alpha=0.05)
    told = explain(result, "A", "B")
    assert told.kept_p == result.kept_p("A", "B")
    assert f"the largest p-value was {told.kept_p:.3g} (alpha = 0.05, n = 500)." in str(told)


def test_what_hangs_on_one_column_is_told() -> None:
    sample = ap.simulate.linear_gaussian(ap.DAG.from_string("A --> B; B --> C"), 500, seed=1)
    told = str(explain(ap.learn(sample, method="icd"), "A", "C"))
    assert "This depends on one column: in a table without B, tests may join the two." in told
    assert ap.learn({name: sample[name] for name in "AC"}, method="icd").pag.edge("A", "C") is not None
    assert "hangs" not in str(explain(learned("A --> B; B --> C"), "A", "C")), "a perfect test"


@pytest.mark.parametrize(("times", "is_near"), [(0.5, True), (0.01, False)])
def test_a_mark_that_rests_on_one_test_is_told_whatever_its_p_value(times: float, is_near: bool) -> None:
    sample = ap.simulate.linear_gaussian(ap.DAG.from_string("A --> C; B --> C"), 500, seed=1)
    p = ap.learn(sample, method="icd").sepsets["A", "B"].p
    result = ap.learn(sample, method="icd", alpha=p * times)
    assert ("This depends on one test near alpha" in str(explain(result, "A", "B"))) is is_near
    test = f"one test{' near alpha' if is_near else ''}: A and B are independent, p = {p:.3g}"
    note = f"The mark at C rests on {test}. In a table without B it may be a circle."
    assert note in explain(result, "C", "A").notes
    assert "rests on" not in str(explain(learned("A --> C; B --> C"), "A", "C")), "a perfect test"


def test_a_mark_that_two_colliders_give_does_not_rest_on_one_test(tmp_path: Path) -> None:
    sample = ap.simulate.linear_gaussian(ap.DAG.from_string("A --> D; B --> D; C --> D"), 500, seed=2)
    whole = ap.learn(sample, method="icd")
    assert "rests on" not in str(explain(whole, "A", "D"))
    fewer = ap.learn({name: sample[name] for name in "ABD"}, method="icd")
    assert "The mark at D rests on one test: A and B are independent" in str(explain(fewer, "A", "D"))
    both = ap.learn(sample, effort=0.1)
    for result, rests in ((both, False), (ap.learn({name: sample[name] for name in "ABD"}, effort=0.1), True)):
        told = str(explain(result, "A", "D"))
        assert ("rests on one test" in told) is rests
        result.save(tmp_path / "x.json")
        read = ap.read_result(tmp_path / "x.json")
        assert isinstance(read, Result) and str(explain(read, "A", "D")) == told


def test_a_tail_and_an_arrowhead_by_r1_that_rest_on_one_test_are_told() -> None:
    sample = ap.simulate.linear_gaussian(ap.DAG.from_string("A --> C; B --> C; C --> D"), 2000, seed=1)
    result = ap.learn({name: sample[name] for name in "ABCD"}, method="icd")
    assert "rests on" not in str(explain(result, "C", "D")), "A and B both show it"
    known = ap.Knowledge(tiers=[["A"], ["C"], ["D"]])
    fewer = ap.learn({name: sample[name] for name in "ACD"}, method="icd", knowledge=known, selection_bias=False)
    assert {reason.rule for reason in fewer.marks if {reason.at, reason.other} == {"C", "D"}} <= {0, 1, 20, 21}
    told = [note for note in explain(fewer, "C", "D").notes if note.startswith("The mark at C rests on")]
    test = f"D and A are independent given C, p = {fewer.sepsets['A', 'D'].p:.3g}"
    rests = "The mark at C rests on the arrowhead at C from A and on one test"
    assert told == [f"{rests}: {test}. In a table without A it may be a circle."]


@pytest.mark.parametrize("seed", range(20))
def test_witnesses_are_all_patterns_of_the_rule(seed: int) -> None:
    result = ap.learn(ap.simulate.random_system(8, 2.5, seed=seed).linear_gaussian(300, seed=seed), method="icd")
    pag, facts = result.pag, facts_of(result)
    for edge in (*pag.edges(), *(edge.reversed() for edge in pag.edges())):
        reason = next(iter(facts.reasons.get(edge[:2], [])), None)
        if reason is None:
            continue
        slow = []
        for third in set(pag.names) - {edge.a, edge.b}:
            middle, end = edge[:2] if reason.rule == 0 or reason.mark == Mark.TAIL else edge[1::-1]
            beside = pag.edge(third, middle)
            if beside is None or pag.edge(third, end) or (third, end) not in result.sepsets or reason.rule > 1:
                continue
            given = result.sepsets[third, end].given
            if middle not in given if reason.rule == 0 else (middle in given and beside.mark_b == Mark.ARROW):
                slow.append((third, end, result.sepsets[third, end]))
        found = [tuple(one)[:3] for one in facts.witnesses(reason)]
        assert sorted(found) == sorted(slow) and (found or reason.rule > 0)
        told = any(note.startswith(f"The mark at {edge.a} rests on") for note in explain(result, *edge[:2]).notes)
        assert told is (len(found) == 1)


def test_the_mark_of_the_textbook_table_rests_on_one_test() -> None:
    causaldata = pytest.importorskip("causaldata")
    before = ["sex", "age", "race", "education", "smokeintensity", "smokeyrs", "active", "exercise", "wt71"]
    table = causaldata.nhefs_complete.load_pandas().data[[*before, "qsmk", "wt82_71"]]
    known = ap.Knowledge(tiers=[before, ["qsmk"], ["wt82_71"]])
    result = ap.learn(table, knowledge=known, selection_bias=False, effort=0.1)
    told = str(explain(result, "qsmk", "wt82_71"))
    test = "wt82_71 and smokeintensity are independent, p = 0.247"
    assert (
        f"    The mark at qsmk rests on one test: {test}. In a table without smokeintensity it may be a circle." in told
    )
    assert "The mark at wt82_71" not in told, "it was said beforehand"


def test_a_search_that_stopped_early_says_so_and_promises_less() -> None:
    result = learned("M --> A; M --> C; D --> A; E --> C", stop=lambda state, info: True)
    told = explain(result, "A", "C")
    assert told.edge is not None and told.edge.symbol == "<->"
    assert "or that the search has not yet fully accounted for" in told.summary
    assert told.notes[-1] == "The search stopped after r = 0: larger condition sets may still remove this edge."


def test_a_mark_given_beforehand_is_called_that() -> None:
    start = ap.PAG.from_string("A o-> B; B o-o C; A o-o C")
    result = learned("A --> B; B --> C", initial=start)
    told = explain(result, "A", "B")
    assert told.ends[1].why == "The search began with this mark (`initial`)."
    assert told.ends[1].rule is None


def test_conflicts_are_told() -> None:
    outer, inner = "AXDY", {"A": "B", "X": "B", "D": "C", "Y": "C"}  # A, X → B and D, Y → C: is it B → C or C → B?

    def p(x: str, y: str, z: tuple[str, ...]) -> float:
        if x in outer and y in outer:
            return float(not z)
        end, middle = (x, y) if x in outer else (y, x)
        return float(end in outer and middle != inner[end] and z == (inner[end],))

    result = ap.learn(ap.from_callable(p, list("AXBCDY"), called_with="names"))
    told = explain(result, "B", "C")
    assert told.edge is not None and told.edge.symbol == "o-o"
    assert [len(end.conflicts) for end in told.ends] == [2, 2]
    assert "In conflict: a tail was wanted here by R1: A and C are independent given B" in str(told)
    assert "In conflict: an arrowhead was wanted here by R1: D and B are independent given C" in str(told)


def test_a_bare_graph_has_meanings_and_no_reasons() -> None:
    told = explain(ap.PAG.from_string("smoking o-> tar; tar --> cancer"), "tar", "cancer")
    assert "no unmeasured variable" in told.summary
    assert [end.why for end in told.ends] == [None, None]
    assert told.notes == ()
    apart = explain(ap.PAG.from_string("smoking o-> tar; tar --> cancer"), "smoking", "cancer")
    assert apart.summary.startswith("smoking and cancer have no edge: neither is a direct cause")


def test_names_with_braces_are_just_names() -> None:
    told = explain(ap.PAG.from_string('"{a}" o-> "{b}{0}"'), "{a}", "{b}{0}")
    assert told.summary.startswith("{a} may be a cause of {b}{0}, or")


def test_an_unknown_name_is_refused_by_a_sentence() -> None:
    with pytest.raises(GraphError, match="There is no node 'Z'; the nodes are 'A', 'B'"):
        explain(ap.PAG.from_string("A o-> B"), "A", "Z")


def test_machines_get_json() -> None:
    result = learned("storm --> fire; arson --> fire; fire --> smoke")
    edge = json.loads(json.dumps(explain(result, "fire", "smoke").to_dict()))
    assert (edge["edge"], edge["ends"][0]["mark"], edge["ends"][0]["claim"]) == ("-->", "tail", "yes")
    apart = json.loads(json.dumps(explain(result, "storm", "smoke").to_dict()))
    assert (apart["edge"], apart["separation"]["given"]) == (None, ["fire"])
