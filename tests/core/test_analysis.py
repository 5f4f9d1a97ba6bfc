"""Analyses: declaration, inputs brought into the order of the fit, records, errors kept apart."""

import contextlib
from types import ModuleType

import numpy as np
import pytest
from toys import Walk

from plaidwork.core.analysing import compute_analysis, run_analysis
from plaidwork.core.contract.hyperparameter import DeclarationError, Hyperparameter
from plaidwork.core.contract.model import Result, Table
from plaidwork.core.contract.spec import Input, View
from plaidwork.core.data.dataset import Dataset
from plaidwork.core.errors import DataError, ModelError, PluginError, SessionError, SettingError
from plaidwork.core.findings.analysis import Analysis, AnalysisSpec
from plaidwork.core.findings.annotations import AnnotationRef, Annotations, available_annotations
from plaidwork.core.inference.execution import execute
from plaidwork.core.inference.plan import make_plan
from plaidwork.core.plugins import finding
from plaidwork.core.plugins.registry import Registry
from plaidwork.core.session.session import Session

SPEC = AnalysisSpec(
    id="toy.analysis",
    version="0.3",
    title="Toy analysis",
    summary="For tests.",
    needs={"place": "place", "levels": "draws:level"},
    inputs=(
        Input("more", dims=("row", "extra"), missing=True, required=False),
        Input("other", dims=("column", "extra"), required=False),
    ),
    annotations=(
        Annotations("group", required=False),
        Annotations("weight", "row", "number", required=False),
    ),
    hyperparameters=(Hyperparameter("factor", "float", 2.0, minimum=0),),
    views=(View("table", "T", {"values": "table"}, headline="words"),),
)


class Toy(Analysis):
    """Hands back what it got; ``then`` is called in the middle."""

    spec = SPEC
    then = None

    def run(self, results, data, params, report):
        report(0.5)
        if self.then is not None:
            self.then()
        self.got = results, data, params
        return {
            "table": Table({"a": np.arange(2)}),
            "words": "found",
            "x": Result(np.ones(2) * params["factor"]),
        }


@pytest.fixture
def run():
    rng = np.random.default_rng(1)
    data = Dataset(
        "X",
        rng.normal(size=(4, 3)),
        ("r0", "r1", "r2", "r3"),
        ("c0", "c1", "c2"),
        row_table={
            "class": np.array(["a", "", "b", None], dtype=object),
            "size": np.arange(4),
            "on": np.array([True, False, True, True]),
        },
        column_table={"score": np.array([1.5, np.nan, 2.0])},
        row_label="genes",
    )
    session = Session()
    plan = make_plan(Walk(), {"X": data})
    made = session.add_run(plan)
    execute(made, plan)
    return made


def test_a_record_holds_what_was_found_and_asked(run):
    shares = []
    record = run_analysis(run, Toy(), {"group": "X:row:class"}, {"factor": 3}, report=shares.append)
    assert run.analyses == [record]
    assert (record.analysis, record.version, record.title) == ("toy.analysis", "0.3", "Toy analysis")
    assert record.params == {"factor": 3.0}
    assert record.annotations == {"group": AnnotationRef("X", "row", "class")}
    assert record.views == SPEC.views
    assert record.text("words") == "found"
    assert record.text("table") == ""
    assert record.draws == run.n_draws
    np.testing.assert_array_equal(record.results["x"].values, [3.0, 3.0])
    assert shares == [0.5]


def test_results_come_by_role_and_draws_stacked(run):
    toy = Toy()
    compute_analysis(run, toy)
    results, data, _ = toy.got
    assert run.analyses == []
    assert results["place"] is run.results["place"]
    assert results["levels"].dims == ("chain", "draw")
    np.testing.assert_array_equal(results["levels"].values, run.draws["level"])
    np.testing.assert_array_equal(data["X"].values, run.session.datasets["X"].values)
    assert data.annotations == {}


def test_an_analysis_sees_the_settings_of_the_run(run):
    toy = Toy()
    compute_analysis(run, toy)
    assert toy.got[1].settings == run.params


def test_annotations_are_text_or_numbers_with_gaps(run):
    toy = Toy()
    compute_analysis(run, toy, {"group": "X:row:class", "weight": AnnotationRef("X", "row", "size")})
    group, weight = toy.got[1].annotations["group"], toy.got[1].annotations["weight"]
    assert list(group.values) == ["a", "", "b", ""]
    assert list(group.known) == [True, False, True, False]
    assert (group.axis, group.dim, group.axis_label, group.is_number) == ("row", "row", "genes", False)
    assert weight.is_number
    compute_analysis(run, toy, {"group": "X:row:on"})
    assert list(toy.got[1].annotations["group"].values) == ["yes", "no", "yes", "yes"]
    compute_analysis(run, toy, {"group": "X:column:score"})
    assert list(toy.got[1].annotations["group"].known) == [True, False, True]


def test_which_annotations_are_offered(run):
    offered = [available_annotations(d, run, run.session.datasets) for d in SPEC.annotations]
    assert [str(ref) for ref in offered[0]] == ["X:row:class", "X:row:size", "X:row:on", "X:column:score"]
    assert [str(ref) for ref in offered[1]] == ["X:row:size"]
    with pytest.raises(DataError, match=r"has no such annotation.*X:row:size"):
        compute_analysis(run, Toy(), {"weight": "X:row:class"})
    assert AnnotationRef.parse("X:column:a:b") == AnnotationRef("X", "column", "a:b")
    with pytest.raises(SettingError, match="Found “class”"):
        AnnotationRef.parse("class")


def test_inputs_are_brought_into_the_order_of_the_fit(run):
    more = Dataset("more", np.array([[3.0, 30], [1, 10], [9, 90]]), ("r3", "r1", "zz"), ("e0", "e1"))
    other = Dataset("other", np.arange(6.0).reshape(3, 2), ("c2", "c1", "c0"), ("e1", "e0"))
    toy = Toy()
    record = compute_analysis(run, toy, {"more": more, "other": other})
    data = toy.got[1]
    assert data["more"].names == (("r0", "r1", "r2", "r3"), ("e0", "e1"))
    np.testing.assert_array_equal(data["more"].observed[:, 0], [False, True, False, True])
    np.testing.assert_array_equal(data["more"].values[[1, 3]], [[1, 10], [3, 30]])
    assert data["other"].names == (("c0", "c1", "c2"), ("e0", "e1"))
    np.testing.assert_array_equal(data["other"].values, [[5, 4], [3, 2], [1, 0]])
    assert record.inputs == {"more": ("more",), "other": ("other",)}
    assert record.inputs_hash
    assert "more" in record.log[0].text


def test_an_input_that_must_be_complete_says_what_it_lacks(run):
    other = Dataset("other", np.ones((2, 1)), ("c0", "c1"), ("e0",))
    with pytest.raises(DataError, match="lacks 1 of the 3 columns of X, for example “c2”"):
        compute_analysis(run, Toy(), {"other": other})


def test_an_input_of_the_model_is_the_default(run):
    class Same(Toy):
        spec = AnalysisSpec(
            id="a",
            version="1",
            title="A",
            summary="",
            needs={},
            inputs=(Input("X"),),
            hyperparameters=SPEC.hyperparameters,
        )

    toy = Same()
    record = compute_analysis(run, toy)
    assert record.inputs == {"X": ("X",)}


@pytest.mark.parametrize(
    ("inputs", "params", "match"),
    [
        ({"nothing": 1}, {}, "no input named “nothing”.*group, more"),
        ({}, {"factor": -1}, "Factor"),
        ({}, {"fact": 1}, "no setting named “fact”"),
    ],
)
def test_wrong_settings_are_told_before_anything_runs(run, inputs, params, match):
    with pytest.raises(SettingError, match=match):
        compute_analysis(run, Toy(), inputs, params)


def test_changed_or_lost_data_are_told(run):
    session = run.session
    data = session.datasets["X"]
    session.replace_dataset("X", data.with_(values=data.values + 1))
    with pytest.raises(DataError, match="have changed since"):
        compute_analysis(run, Toy())
    with pytest.raises(DataError, match="not here: X"):
        compute_analysis(run, Toy(), datasets={})


def test_a_bug_names_the_plugin_and_a_user_error_passes(run):
    def bug():
        raise KeyError("oops")

    def user():
        raise ModelError("Too few.", "Take more.")

    toy = Toy()
    toy.then = bug
    with pytest.raises(PluginError, match=r"plugin toy.analysis 0.3 failed in run\(\): KeyError") as caught:
        run_analysis(run, toy)
    assert caught.value.plugin == "toy.analysis"
    toy.then = user
    with pytest.raises(ModelError, match="Too few"):
        run_analysis(run, toy)
    assert run.analyses == []


@pytest.mark.parametrize(
    ("found", "match"),
    [
        (None, "returned NoneType"),
        ({"table": 3, "words": ""}, "“table” is a int"),
        ({"words": ""}, "needs the result “table”"),
    ],
)
def test_results_are_checked_against_the_declaration(run, found, match):
    class Wrong(Toy):
        def run(self, *_):
            return found

    with pytest.raises(PluginError, match=match):
        compute_analysis(run, Wrong())


def test_a_cancellation_passes_even_when_the_analysis_swallows_it(run):
    class Cancelled(Exception):
        pass

    def report(share):
        raise Cancelled

    with pytest.raises(Cancelled):
        compute_analysis(run, Toy(), report=report)

    class Swallows(Toy):
        def run(self, results, data, params, report):
            with contextlib.suppress(Exception):
                report(0.1)
            return {"table": Table({}), "words": ""}

    with pytest.raises(Cancelled):
        compute_analysis(run, Swallows(), report=report)


def test_needs_decide_whether_a_run_will_do(run):
    assert SPEC.missing(run) == ""
    run.results = {}
    assert "needs “place”" in SPEC.missing(run)
    with pytest.raises(DataError, match="needs “place”"):
        compute_analysis(run, Toy())
    only = AnalysisSpec(id="b", version="1", title="B", summary="", needs={}, models=("other",))
    assert "not made for Walk" in only.missing(run)


@pytest.mark.parametrize(
    "wrong",
    [
        {"id": "Bad Id"},
        {"models": "one"},
        {"inputs": (Input("a"),), "annotations": (Annotations("a"),)},
        {"hyperparameters": (Hyperparameter("p", "int", 1, when={"q": 1}),)},
    ],
)
def test_contradicting_declarations_are_refused(wrong):
    fields = {"id": "a", "version": "1", "title": "A", "summary": "", "needs": {}, **wrong}
    with pytest.raises(DeclarationError):
        AnalysisSpec(**fields)


# the hook ------------------------------------------------------------------------------------------------------------


def _load(monkeypatch, *plugins):
    """A registry with these guests and no built-in; each guest is what its hook returns."""

    class Point:
        dist, value = None, "guest"

        def __init__(self, number, found):
            self.name, self.found = f"guest{number}", found

        def load(self):
            guest = ModuleType(self.name)
            guest.plaidwork_analyses = self.found if callable(self.found) else lambda: self.found
            return guest

    points = [Point(number, found) for number, found in enumerate(plugins)]
    monkeypatch.setattr(finding, "entry_points", lambda group: points)
    monkeypatch.setattr(finding.pkgutil, "iter_modules", lambda path: ())
    return Registry().load()


def test_hook_plaidwork_analyses_brings_analyses(monkeypatch, run):
    found = _load(monkeypatch, [Toy])
    assert [(plugin.state, plugin.version) for plugin in found.plugins] == [("ok", "0.3")]
    assert found.analyses_for(run) == (SPEC,)
    assert isinstance(found.analysis("toy.analysis"), Toy)
    with pytest.raises(SessionError, match=r"“toy.none” is not installed.*toy.analysis"):
        found.analysis("toy.none")
    run.results = {}
    assert found.analyses_for(run) == ()


class Unfinished(Analysis):
    spec = SPEC


class Later(Toy):
    spec = AnalysisSpec(id="later", version="1", title="L", summary="", needs={}, api=(99, 0))


@pytest.mark.parametrize(
    ("hook", "state", "words"),
    [
        ([dict], "failed", "not an Analysis"),
        ([Unfinished], "failed", "no method run"),
        ([Later], "incompatible", "API 99.0"),
        (["toys:Nothing"], "failed", "no class Nothing"),
        (lambda: 1 / 0, "failed", "ZeroDivisionError"),
        ([Toy, Toy], "failed", "already taken"),
    ],
)
def test_a_broken_plugin_leaves_the_others_alone(monkeypatch, hook, state, words):
    found = _load(monkeypatch, hook, [Toy])
    assert found.plugins[0].state == state
    assert words in found.plugins[0].message
    assert found.plugins[1].state == "ok"


def test_records_and_studies_are_saved_with_the_session(run, tmp_path):
    from plaidwork.core.session.session import open_session

    first = run_analysis(run, Toy(), {"group": "X:row:class"})
    second = run_analysis(run, Toy(), params={"factor": 4})
    session = run.session
    session.studies.append({"title": "one", "inputs": {}, "model": "toy.walk", "jobs": [{"metric": None}]})
    saved = open_session(session.save(tmp_path / "s.plaidwork"))
    back = saved.runs[run.id].analyses
    assert saved.studies == session.studies
    assert [record.id for record in back] == [first.id, second.id]
    for old, new in zip((first, second), back, strict=True):
        assert new.annotations == old.annotations
        assert (new.params, new.inputs, new.log) == (old.params, old.inputs, old.log)
        assert (new.created, new.draws, new.seconds) == (old.created, old.draws, old.seconds)
        assert new.views == old.views
        assert new.text("words") == "found"
        np.testing.assert_array_equal(new.results["x"].values, old.results["x"].values)
    run.analyses.clear()
    session.studies.clear()
    emptied = open_session(session.save(tmp_path / "s.plaidwork"))
    assert emptied.runs[run.id].analyses == []
    assert emptied.studies == []
