"""New samples of a fitted model: in the list of analyses, from Python and from the command line."""

from __future__ import annotations

import json

import numpy as np
import pytest
from conforming import Bound, Means
from scipy.sparse import csr_matrix

from plaidwork.core import open_session
from plaidwork.core.analysing import run_analysis
from plaidwork.core.cli import main
from plaidwork.core.contract.model import Result
from plaidwork.core.contract.model_data import Block
from plaidwork.core.contract.schedule import Schedule
from plaidwork.core.contract.spec import Input
from plaidwork.core.data.dataset import Dataset
from plaidwork.core.data.importers import read_dataset
from plaidwork.core.data.reading_alike import read_alike
from plaidwork.core.errors import DataError, ModelError
from plaidwork.core.findings.new_features import match_features
from plaidwork.core.findings.new_samples import new_samples
from plaidwork.core.inference.execution import execute
from plaidwork.core.inference.executor import InlineExecutor
from plaidwork.core.inference.plan import make_plan
from plaidwork.core.inference.run import Run
from plaidwork.core.plugins.registry import registry


def matrix(name: str, seed: int, rows: int, prefix: str = "s") -> Dataset:
    values = np.random.default_rng(seed).standard_normal((rows, 3))
    return Dataset(name, values, tuple(f"{prefix}{i}" for i in range(rows)), ("a", "b", "c"))


@pytest.fixture(scope="module")
def run():
    schedule = Schedule(chains=2, warmup=5, draws=10)
    plan = make_plan(Means(), {"X": matrix("old", 1, 12)}, schedule=schedule, seed=1)
    made = Run.from_plan(plan)
    execute(made, plan, InlineExecutor())
    return made


def test_predictions_are_kept_with_the_run_and_shown(run):
    record = run_analysis(
        run, new_samples(Means)(), {"new_X": matrix("new", 2, 4, "n")}, datasets={"old": matrix("old", 1, 12)}
    )
    found = record.results["X"]
    assert isinstance(found, Result)
    assert found.values.shape == (4, 3)
    assert list(record.results["new_sample"].values) == ["n0", "n1", "n2", "n3"]
    assert record.results["headline"] == "4 new samples with 3 of the 3 features of the fit"
    assert [(view.kind, view.source["values"]) for view in record.views] == [
        ("heatmap", "X"),
        ("table", "features_found"),
    ]
    assert record.inputs["new_X"] == ("new",)
    assert run.analyses == [record]


def test_the_new_data_are_asked_for(run):
    with pytest.raises(DataError, match="needs “X, new samples”"):
        run_analysis(run, new_samples(Means)(), {}, datasets={"old": matrix("old", 1, 12)})


def test_only_models_that_predict_offer_it(run):
    assert Means.offers("predict")
    assert not Bound.offers("predict")
    assert registry().analysis("group_factor.new_samples").spec.models == ("group_factor",)


def write(path, names, shift=0.0):
    rng = np.random.default_rng(3)
    factor = rng.standard_normal(len(names)) + shift
    lines = ["sample," + ",".join(f"f{j}" for j in range(8))]
    for name, level in zip(names, factor, strict=True):
        lines.append(
            f"{name}," + ",".join(f"{level * (j + 1) + 0.1 * rng.standard_normal():.5f}" for j in range(8))
        )
    path.write_text("\n".join(lines))
    return path


@pytest.mark.slow
def test_from_the_command_line(tmp_path, capsys):
    old = write(tmp_path / "old.csv", [f"p{i}" for i in range(30)])
    new = write(tmp_path / "new.csv", [f"q{i}" for i in range(5)])
    kept = tmp_path / "fit.plaidwork"
    settings = ["--set", "n_factors=2", "--chains", "1", "--seed", "1"]
    assert main(["fit", "group_factor", "--input", f"views={old}", *settings, "--out", str(kept)]) == 0
    assert main(["analyse", str(kept)]) == 0
    assert "group_factor.new_samples" in capsys.readouterr().out
    to = tmp_path / "out"
    words = ["analyse", str(kept), "group_factor.new_samples", "--input", f"new_views={new}", "--to", str(to)]
    assert main(words) == 0
    (made,) = next(iter(open_session(kept).runs.values())).analyses
    assert made.title == "New samples"
    assert "q0" in " ".join(path.read_text() for path in to.rglob("*.csv"))
    assert json.dumps([view.title for view in made.views])


@pytest.mark.slow
def test_new_samples_that_lack_a_view_are_kept(tmp_path, capsys):
    """As in the fit: `Input.union` holds for new samples too."""
    old = [write(tmp_path / f"{view}.csv", [f"p{i}" for i in range(30)]) for view in ("one", "two")]
    kept = tmp_path / "fit.plaidwork"
    words = ["fit", "group_factor", "--set", "n_factors=2", "--chains", "1", "--out", str(kept)]
    assert main([*words, *(f"--input=views={path}" for path in old)]) == 0
    new = tmp_path / "new"
    new.mkdir()
    paths = [write(new / "one.csv", ["q0", "q1", "q2", "q3"]), write(new / "two.csv", ["q2", "q3", "q4"])]
    words = ["analyse", str(kept), "group_factor.new_samples"]
    assert main([*words, *(f"--input=new_views={path}" for path in paths)]) == 0
    (made,) = next(iter(open_session(kept).runs.values())).analyses
    assert sorted(made.results["new_sample"].values) == ["q0", "q1", "q2", "q3", "q4"]


@pytest.mark.slow
def test_two_views_are_told_apart_by_their_features_whatever_the_files_are_called(tmp_path, capsys):
    """Files of other names, in another order: each is taken for the view that it has features in common with."""
    rng = np.random.default_rng(7)

    def view(path, names, features, level):
        values = np.outer(level, np.arange(1, len(features) + 1)) + 0.1 * rng.standard_normal(
            (len(names), len(features))
        )
        lines = ["sample," + ",".join(features)]
        lines += [f"{name}," + ",".join(f"{v:.5f}" for v in row) for name, row in zip(names, values)]
        path.write_text("\n".join(lines))
        return path

    genes, drugs = [f"g{j}" for j in range(8)], [f"d{j}" for j in range(6)]
    names, level = [f"p{i}" for i in range(30)], rng.standard_normal(30)
    kept = tmp_path / "fit.plaidwork"
    old = [view(tmp_path / "rna.csv", names, genes, level), view(tmp_path / "drugs.csv", names, drugs, level)]
    words = ["fit", "group_factor", "--set", "n_factors=2", "--chains", "1", "--out", str(kept)]
    assert main([*words, *(f"--input=views={path}" for path in old)]) == 0
    fresh, high = ["q0", "q1", "q2"], np.array([3.0, 0.0, -3.0])
    new = [
        view(tmp_path / "plate7.csv", fresh, drugs[::-1], high),
        view(tmp_path / "batch.csv", fresh, [*genes[1:], "x"], high),
    ]
    words = ["analyse", str(kept), "group_factor.new_samples", "--to", str(tmp_path / "out")]
    assert main([*words, *(f"--input=new_views={path}" for path in new)]) == 0
    (made,) = next(iter(open_session(kept).runs.values())).analyses
    table = made.results["features_found"].columns
    assert list(zip(table["New data"], table["Taken for"])) == [("batch", "rna"), ("plate7", "drugs")]
    assert [list(table[title]) for title in ("Matched", "Missing", "Extra")] == [[7, 6], [1, 0], [1, 0]]
    assert table["Which"][0] == "missing “g0”; extra “x”"
    scores = (tmp_path / "out" / "new_scores.csv").read_text().splitlines()
    assert scores[0].startswith("name,Factor 1")
    assert [line.split(",")[0] for line in scores[1:]] == fresh


def block(name: str, features: tuple[str, ...], rows: tuple[str, ...] = ("n0", "n1")) -> Block:
    values = np.arange(len(rows) * len(features), dtype=float).reshape(len(rows), -1)
    return Block(name, values, np.ones(values.shape, bool), None, (rows, features))


def test_features_come_in_the_order_of_the_fit():
    """By position they would be taken one for the other."""
    item = Input("X", missing=True)
    (made,), (told,) = match_features(item, [block("old", ("a", "b", "c"))], [block("new", ("c", "z", "a"))])
    assert made.name == "old"
    assert made.names[1] == ("a", "b", "c")
    assert made.values[:, [0, 2]].tolist() == [[2.0, 0.0], [5.0, 3.0]]
    assert made.observed.tolist() == [[True, False, True]] * 2
    assert (told.missing, told.extra, told.n_matched) == (("b",), ("z",), 2)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (block("new", ("z",)), "shares no feature with “old”"),
        (block("new", ("z", "y"), ("a", "b")), "The rows of “new” are 2 of the 2 features of the fit"),
        (block("new", ("a", "z")), "lacks 1 of the 2 features of the fit: “b”"),
    ],
)
def test_what_cannot_be_matched_is_said(given, words):
    with pytest.raises(ModelError, match=words):
        match_features(Input("X"), [block("old", ("a", "b"))], [given])


def test_as_many_new_samples_as_old_ones_keep_their_own_names(run):
    """Their axis is not that of the fitted samples, whose names would stand beside them."""
    record = run_analysis(
        run,
        new_samples(Means)(),
        {"new_X": matrix("new", 2, 12, "n")},
        datasets={"old": matrix("old", 1, 12)},
    )
    assert record.results["X"].dims[0] == "new_sample"
    assert record.results["new_sample"].values[0] == "n0"


def test_a_file_is_read_as_the_one_of_the_fit(tmp_path):
    """What stands for missing was told when the fitted file was read; it need not be told again."""
    old, new = tmp_path / "old.csv", tmp_path / "new.csv"
    old.write_text("sample;a;b;c\np0;1,25;2;3\np1;4;99;6,5\n")
    fitted = read_dataset(old, {"missing": ["99"]})
    assert fitted.n_missing == 1
    new.write_text("sample;c;a\nn0;1,5;99\nn1;2,5;7\n")
    assert read_dataset(new).n_missing == 0
    found = read_alike(new, [fitted])
    assert found.values.tolist()[1] == [2.5, 7.0]
    assert found.n_missing == 1
    new.write_text("sample,x,y\nq,1,2\nr,3,4")
    assert read_alike(new, [fitted]).column_names == ("x", "y")


class Says(Means):
    """Tells a word of each new sample, and calls the axis by the dim of the fitted ones."""

    def predict(self, kept, data, new_data, params):
        words = np.array(["high" if row.sum() > 0 else "low" for row in new_data["X"].values])
        return super().predict(kept, data, new_data, params) | {
            "word": Result(words, ("sample",), label="Predicted word")
        }


def test_words_about_new_samples_stand_in_a_table_with_their_names(run):
    record = run_analysis(
        run, new_samples(Says)(), {"new_X": matrix("new", 2, 4, "n")}, datasets={"old": matrix("old", 1, 12)}
    )
    columns = record.results["word"].columns
    assert list(columns) == ["New sample", "Predicted word"]
    assert list(columns["New sample"]) == ["n0", "n1", "n2", "n3"]
    assert "Predicted word" in [view.title for view in record.views]


def test_words_that_new_documents_never_use_count_as_0():
    """Their dictionary is another one: by position the counts would be those of other words."""
    counts = csr_matrix(np.array([[1.0, 2.0], [0.0, 3.0]]))
    seen = np.broadcast_to(np.True_, counts.shape)
    new = Block("new", counts, seen, None, (("d0", "d1"), ("whale", "sea")))
    old = Block("old", csr_matrix((1, 3)), seen[:1], None, (("o",), ("sea", "ship", "whale")))
    (made,), (told,) = match_features(Input("X", dtype="count", sparse=True), [old], [new])
    assert made.values.toarray().tolist() == [[2.0, 0.0, 1.0], [3.0, 0.0, 0.0]]
    assert made.observed.all()
    assert made.observed.shape == (2, 3)
    assert (told.missing, told.note) == (("ship",), "absent ones count as 0")
