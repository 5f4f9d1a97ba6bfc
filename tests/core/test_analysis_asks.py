"""What analyses may ask for: many annotations, files, data of their own with annotations; and what is opened once."""

import numpy as np
import pytest
import scipy.sparse as sp
from toys import Walk

from plaidwork.core.analysing import compute_analysis, run_analysis
from plaidwork.core.contract.hyperparameter import DeclarationError
from plaidwork.core.contract.model import Result
from plaidwork.core.contract.spec import Input
from plaidwork.core.data.annotate import annotate_all
from plaidwork.core.data.dataset import Dataset
from plaidwork.core.errors import DataError, SessionError, SettingError
from plaidwork.core.findings.analysis import Analysis, AnalysisSpec
from plaidwork.core.findings.annotations import AnnotationRef, Annotations, available_annotations
from plaidwork.core.findings.attached import AttachedFile, FileRequest, attach
from plaidwork.core.findings.unlocking import LockedError, standing
from plaidwork.core.inference.execution import execute
from plaidwork.core.inference.plan import make_plan
from plaidwork.core.session.session import Session, open_session


def analysis(**fields):
    """A toy analysis that remembers what it got."""

    class Toy(Analysis):
        spec = AnalysisSpec(
            **{"id": "toy", "version": "1", "title": "Toy", "summary": "", "needs": {}, **fields}
        )

        def run(self, results, data, params, report):
            self.results, self.data = results, data
            return {}

    return Toy()


def fitted(session=None, name="X", values=None):
    values = np.random.default_rng(1).normal(size=(4, 3)) if values is None else values
    data = Dataset(
        name,
        values,
        tuple(f"r{i}" for i in range(4)),
        ("c0", "c1", "c2"),
        row_table={"class": np.array(["a", "", "b", "a"]), "size": np.arange(4)},
        column_table={"score": np.arange(3.0)},
        row_label="genes",
    )
    session = session or Session()
    plan = make_plan(Walk(), {"X": data})
    run = session.add_run(plan)
    execute(run, plan)
    return run


@pytest.fixture
def run():
    return fitted()


# annotations ---------------------------------------------------------------------------------------------------------


def test_many_annotations_are_all_unless_told(run):
    toy = analysis(annotations=(Annotations("some", many=True),))
    record = run_analysis(run, toy)
    assert [ref.title for ref in record.annotations["some"]] == ["class", "size", "score"]
    assert [one.title for one in toy.data.annotations["some"]] == ["class", "size", "score"]
    record = run_analysis(run, toy, {"some": ["X:column:score", "class"]})
    assert [str(ref) for ref in record.annotations["some"]] == ["X:column:score", "X:row:class"]
    assert run_analysis(run, toy, {"some": "all"}).annotations["some"] == tuple(
        available_annotations(toy.spec.annotations[0], run, run.session.datasets)
    )
    with pytest.raises(DataError, match="needs “Some”"):
        run_analysis(run, toy, {"some": []})


def test_optional_many_are_none_unless_told(run):
    toy = analysis(annotations=(Annotations("some", many=True, required=False),))
    assert run_analysis(run, toy).annotations == {}
    assert len(run_analysis(run, toy, {"some": "all"}).annotations["some"]) == 3


def test_one_annotation_stays_one(run):
    toy = analysis(annotations=(Annotations("one"),))
    assert run_analysis(run, toy, {"one": "size"}).annotations["one"] == AnnotationRef("X", "row", "size")
    with pytest.raises(DataError, match=r"takes one annotation as “One”\. Found 2"):
        run_analysis(run, toy, {"one": ["size", "class"]})


def test_annotations_of_a_result_describe_its_dims(run):
    run.results["by_row"] = Result(np.zeros((2, 4)), ("block", "row"))
    toy = analysis(needs={"it": "by_row"}, annotations=(Annotations("some", many=True, of="it"),))
    assert [ref.title for ref in run_analysis(run, toy).annotations["some"]] == ["class", "size"]
    run.results["by_row"] = Result(np.zeros(2), ("block",))
    with pytest.raises(DataError, match="needs “Some”"):
        run_analysis(run, toy)
    with pytest.raises(DeclarationError, match="of unknown 'nothing'"):
        analysis(annotations=(Annotations("some", of="nothing"),))


def test_names_and_optional_results_reach_the_analysis(run):
    run.results["block"] = Result(np.array(["one", "two"]), ("block",))
    toy = analysis(needs={"place": "place"}, optional={"there": "block", "not": "nothing"})
    compute_analysis(run, toy)
    assert set(toy.results) == {"place", "there"}
    assert toy.data.names_along("row", 4) == ("r0", "r1", "r2", "r3")
    assert toy.data.names_along("block", 2) == ("one", "two")
    assert toy.data.names_along("big_thing", 2) == ("big thing 1", "big thing 2")


def test_labels_can_be_added_after_the_fit(run, tmp_path):
    table = tmp_path / "labels.csv"
    table.write_text("gene,kind\nr0,u\nr2,v\nzz,w\n")
    found, words = annotate_all(run.session.datasets, table)
    assert words == "X: 2 of 4 names match"
    run.session.replace_dataset("X", found["X"])
    toy = analysis(annotations=(Annotations("one"),))
    run_analysis(run, toy, {"one": "kind"})  # the hash of the data is as before
    assert list(toy.data.annotations["one"].values) == ["u", "", "v", ""]
    other = {"Y": Dataset("Y", np.ones((1, 1)), ("q",), ("c",))}
    with pytest.raises(DataError, match="no name occurs among the rows of “Y”"):
        annotate_all(other, table)
    assert list(annotate_all({**run.session.datasets, **other}, table)[0]) == ["X"]


# data of the analysis: a further half of the rows, sparse, with annotations ----------------------------------------------


def test_further_rows_reach_the_analysis_sparse_and_annotated(run):
    counts = sp.csr_matrix(np.array([[1.0, 0, 2], [0, 0, 3]]))
    test = Dataset(
        "test half", counts, ("d7", "d9"), ("c2", "c0", "c1"), kind="count",
        row_table={"cluster": np.array(["k1", "k2"])},
    )  # fmt: skip
    outcome = Dataset("outcome", np.array([5.0, 7, 6]), ("d9", "zz", "d7"))
    toy = analysis(
        inputs=(
            Input("test", dtype="count", dims=("test_row", "column"), sparse=True),
            Input("y", "vector", dims=("test_row",)),
        ),
        annotations=(Annotations("cluster", "row", "text", of="test"),),
    )
    record = run_analysis(run, toy, {"test": test, "y": outcome, "cluster": "cluster"})
    block = toy.data["test"]
    assert sp.issparse(block.values)
    assert block.names == (("d7", "d9"), ("c0", "c1", "c2"))  # words in the order of the fit
    np.testing.assert_array_equal(block.values.toarray(), [[0, 2, 1], [0, 3, 0]])
    np.testing.assert_array_equal(toy.data["y"].values, [6, 5])  # joined by name, “zz” left out
    assert list(toy.data.annotations["cluster"].values) == ["k1", "k2"]
    assert toy.data.annotations["cluster"].dim == "test_row"
    assert record.annotations["cluster"] == AnnotationRef("test", "row", "cluster")


def test_items_that_data_of_the_analysis_lack_have_no_annotation(run):
    more = Dataset(
        "more", np.ones((3, 1)), ("r3", "zz", "r1"), ("e",),
        row_table={"kind": np.array(["three", "none", "one"]), "size": np.array([3.0, 9, 1])},
    )  # fmt: skip
    toy = analysis(
        inputs=(Input("more", dims=("row", "extra"), missing=True),),
        annotations=(Annotations("some", many=True, of="more"),),
    )
    run_analysis(run, toy, {"more": more})
    kind, size = toy.data.annotations["some"]
    assert list(kind.values) == ["", "one", "", "three"]
    np.testing.assert_array_equal(size.values, [np.nan, 1, np.nan, 3])


# files ---------------------------------------------------------------------------------------------------------------


FILES = (FileRequest("list", (".txt",), most_bytes=50), FileRequest("extra", required=False))


def test_a_file_is_read_whole_and_kept(run, tmp_path):
    path = tmp_path / "words.txt"
    path.write_text("one\ntwo\n")
    toy = analysis(files=FILES)
    record = run_analysis(run, toy, {"list": path})
    assert toy.data.files == dict(record.files)
    assert record.files["list"].text() == "one\ntwo\n"
    path.unlink()
    again = run_analysis(run, toy, {"list": record.files["list"]})
    assert again.files == record.files
    back = open_session(run.session.save(tmp_path / "s.plaidwork"))
    assert [one.files for one in back.runs[run.id].analyses] == [record.files, again.files]


def test_wrong_files_are_told(run, tmp_path):
    toy, path = analysis(files=FILES), tmp_path / "words.txt"
    for content, match in ((b"x" * 51, "at most"), (b" \n", "is empty"), (None, "does not exist")):
        path.unlink(missing_ok=True)
        if content is not None:
            path.write_bytes(content)
        with pytest.raises(DataError, match=match):
            run_analysis(run, toy, {"list": path})
    with pytest.raises(DataError, match="needs a file as “List”"):
        run_analysis(run, toy)
    with pytest.raises(SettingError, match=r"no input named “what”.*extra, list"):
        run_analysis(run, toy, {"what": 1})
    with pytest.raises(DataError, match="byte 0xE4 at position 4, line 2"):
        AttachedFile.of("a.txt", b"ok\n\xe4").text()
    with pytest.raises(DeclarationError, match="no leading dot"):
        FileRequest("a", ("txt",))
    with pytest.raises(DeclarationError, match="declared twice"):
        analysis(files=(FileRequest("a"),), annotations=(Annotations("a"),))


def test_a_damaged_copy_is_refused_when_a_session_is_read(run, tmp_path):
    file = AttachedFile("a.txt", "0" * 64, b"other bytes")
    run_analysis(run, analysis(files=FILES), {"list": file})
    path = run.session.save(tmp_path / "s.plaidwork")
    with pytest.raises(SessionError, match="does not match its checksum"):
        open_session(path)
    path.unlink()
    path.write_bytes(b"0123")
    assert attach(FILES[1], path).sha256 == AttachedFile.of("x", b"0123").sha256


# what is opened once -------------------------------------------------------------------------------------------------


def test_what_is_locked_opens_once_and_only_when_told(run, tmp_path):
    toy = analysis(unlocks="test half")
    data = list(run.session.datasets.values())
    assert standing(toy.spec, run, data).state == "locked"
    with pytest.raises(LockedError, match="opens the test half, which can be done once"):
        run_analysis(run, toy)
    assert not any(entry["action"] == "unlocked" for entry in run.session.history)
    first = run_analysis(run, toy, unlock=True)
    assert not first.exploratory
    (entry,) = (entry for entry in run.session.history if entry["action"] == "unlocked")
    assert (entry["what"], entry["run"], entry["analysis"]) == ("test half", run.id, "toy")
    assert f"at {entry['time'][:16].replace('T', ' ')} UTC" in first.standing
    assert any("The test half was opened for Toy" in line.text for line in run.log)
    again = run_analysis(run, toy)  # open now: the same run may be looked at again
    assert not again.exploratory
    later = fitted(run.session)
    record = run_analysis(later, toy)
    assert record.exploratory
    assert record.standing.startswith(f"Exploratory: the test half was opened for {run.title} at ")
    back = open_session(run.session.save(tmp_path / "s.plaidwork"))
    assert back.runs[later.id].analyses[0].exploratory
    assert back.runs[run.id].analyses[0].standing == first.standing
    run.session.remove_run(run.id)  # what was seen stays seen
    assert run_analysis(later, toy).exploratory


def test_other_data_and_other_locks_stay_locked(run):
    run_analysis(run, analysis(unlocks="test half"), unlock=True)
    with pytest.raises(LockedError):
        run_analysis(run, analysis(unlocks="validation set"))
    other = fitted(run.session, "Z")
    with pytest.raises(LockedError):
        run_analysis(other, analysis(unlocks="test half"))
    assert not run_analysis(other, analysis(unlocks="test half"), unlock=True).exploratory


def test_it_is_opened_before_the_analysis_runs_but_after_its_inputs_are_checked(run):
    toy = analysis(unlocks="test half", files=FILES)
    with pytest.raises(DataError):
        run_analysis(run, toy, unlock=True)
    data = list(run.session.datasets.values())
    assert standing(toy.spec, run, data).state == "locked"

    class Fails(type(toy)):
        def run(self, results, data, params, report):
            raise DataError("no")

    with pytest.raises(DataError, match="no"):
        run_analysis(run, Fails(), {"list": AttachedFile.of("a", b"x")}, unlock=True)
    assert standing(toy.spec, run, data).state == "open"
    assert run.analyses == []


def test_the_same_data_in_another_input_count_as_seen(run):
    """The test half comes as an input of the analysis; another run, fitted to other data, sees the same half."""
    toy = analysis(unlocks="test half", inputs=(Input("test", dims=("test_row", "column")),))
    half = Dataset("half", np.ones((2, 3)), ("a", "b"), ("c0", "c1", "c2"))
    run_analysis(run, toy, {"test": half}, unlock=True)
    other = fitted(run.session, "Z")
    assert run_analysis(other, toy, {"test": half}).exploratory


def test_what_speaks_against_opening_is_told_before(run):
    toy = analysis(unlocks="test half", caution="warning")
    data = list(run.session.datasets.values())
    assert standing(toy.spec, run, data).text.endswith("exploratory.")
    run.results["warning"] = "Too few samples are expected there."
    assert standing(toy.spec, run, data).text.endswith("Too few samples are expected there.")
    with pytest.raises(LockedError, match=r"can be done once\. Too few samples are expected there\."):
        run_analysis(run, toy)
    assert "Too few" not in run_analysis(run, toy, unlock=True).standing
