"""Where the samples of a matrix are, from the file to the fit, the session and the export."""

from __future__ import annotations

import json

import numpy as np
import pytest
from toys import Walk

from plaidwork.core import fit
from plaidwork.core.cli import main
from plaidwork.core.contract.hyperparameter import DeclarationError
from plaidwork.core.contract.model import Model
from plaidwork.core.contract.schedule import Schedule
from plaidwork.core.contract.spec import Input, ModelSpec, Trace, Variable
from plaidwork.core.contract.spec_json import spec_from_json, spec_to_json
from plaidwork.core.data.dataset import Dataset
from plaidwork.core.data.importers import read_dataset
from plaidwork.core.data.orienting import orient, placed, samples_axis
from plaidwork.core.data.transforms import apply_steps
from plaidwork.core.errors import DataError, SettingError
from plaidwork.core.inference.executor import InlineExecutor
from plaidwork.core.inference.plan import make_plan
from plaidwork.core.job import read_job
from plaidwork.core.session.session import Session, open_session
from plaidwork.core.session.store import datasets as stored
from tests.registries import registry_of

X = Input("X", dims=("sample", "feature"), samples="sample", missing=True)
Y = Input("y", "labels", "categorical", dims=("sample",), samples="sample", required=False)
VIEWS = Input("views", dims=("sample", "feature"), samples="sample", missing=True, many=True, union=True)


class Means(Model):
    """A number for every feature; it cares where the samples are."""

    spec = ModelSpec(
        id="toy_means",
        version="1.0",
        title="Toy means",
        summary="Means of features.",
        inputs=(X, Y),
        variables=(Variable("mean", ("feature",)),),
        traces=(Trace("level", primary=True),),
        schedule=Schedule(chains=1, warmup=2, draws=3),
    )

    def init(self, data, params, rng):
        return {"mean": data["X"].values.mean(axis=0)}

    def step(self, state, data, params, rng, clock):
        state["mean"] = data["X"].values.mean(axis=0) + 0.1 * rng.normal(size=data["X"].shape[1])
        return {"level": float(state["mean"][0])}

    def draws(self, state, data, params):
        return {"mean": state["mean"]}

    def summarise(self, kept, data, params):
        return {}


def matrix(name="expr", rows="g", columns="s", shape=(12, 6), **more) -> Dataset:
    values = np.random.default_rng(3).normal(size=shape)
    names = ([f"{word}{i}" for i in range(size)] for word, size in zip((rows, columns), shape, strict=True))
    return Dataset(name, values, *map(tuple, names), **more)


def labels(names) -> Dataset:
    return Dataset(
        "class", np.arange(len(names)) % 2, tuple(names), kind="categorical", categories=("a", "b")
    )


def plan(inputs, **more):
    return make_plan(Means(), inputs, schedule=Means.spec.schedule, **more)


# -- what the data say --------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("fields", "axis"),
    [
        ({}, None),
        ({"samples_in": "rows"}, 0),
        ({"samples_in": "columns"}, 1),
        ({"row_label": "genes"}, 1),
        ({"column_label": "patients"}, 1),
        ({"row_label": "Samples"}, 0),
        ({"row_label": "samples", "column_label": "genes"}, 0),
        ({"row_label": "genes", "column_label": "proteins"}, None),
        ({"row_label": "samples", "column_label": "patients"}, None),
        ({"row_label": "genes", "samples_in": "rows"}, 0),
    ],
)
def test_what_a_dataset_says(fields, axis):
    assert samples_axis(matrix(**fields)) == axis


def test_an_unknown_word_is_refused():
    with pytest.raises(DataError, match="samples_in must be"):
        matrix(samples_in="both")


def test_turning_a_matrix_turns_what_is_known_and_taking_keeps_it():
    data = matrix(samples_in="columns")
    turned = apply_steps(data, [{"name": "top_variance", "options": {"n": 5}}, {"name": "transpose"}])
    assert turned.samples_in == "rows"
    assert turned.described == "6 samples × 5 features"
    back = apply_steps(turned, [{"name": "transpose"}])
    assert back.samples_in == "columns"
    assert back.described == "5 features × 6 samples"
    assert apply_steps(matrix(), [{"name": "transpose"}]).described == "6 rows × 12 columns"


def test_the_digest_is_what_it_was():
    data = matrix()
    assert data.digest() == data.with_(samples_in="columns").digest()


def test_an_input_names_one_of_its_dims():
    with pytest.raises(DeclarationError, match="samples must be one of its dims"):
        Input("X", dims=("row", "column"), samples="sample")
    assert spec_from_json(spec_to_json(Means.spec)).input("X").samples == "sample"


def test_a_declaration_stored_before_says_nothing_of_samples():
    record = spec_to_json(Means.spec)
    for item in record["inputs"]:
        del item["samples"]
    assert spec_from_json(record).input("X").samples == ""


# -- what a plan does with it -------------------------------------------------------------------------
def test_samples_in_columns_are_turned_with_a_word():
    made = plan({"X": matrix(samples_in="columns")})
    (data,) = made.inputs["X"]
    assert data.shape == (6, 12)
    assert data.row_names == tuple(f"s{i}" for i in range(6))
    assert data.samples_in == "rows"
    assert data.described == "6 samples × 12 features"
    (one,) = made.placed
    assert one.line == ("expr, 12 features × 6 samples: transposed, as the model wants samples in rows.")


def test_what_is_not_known_stays_with_a_word():
    made = plan({"X": matrix()})
    assert made.inputs["X"][0].shape == (12, 6)
    assert made.placed[0].text == (
        "12 rows × 6 columns: nothing says whether rows or columns are the samples; the 12 rows are taken for them."
    )


def test_a_model_that_does_not_care_gets_the_matrix_as_it_is():
    data = matrix(samples_in="columns")
    made = make_plan(Walk(), {"X": data})
    assert made.inputs["X"] == (data,)
    assert made.placed == ()


def test_labels_that_are_called_like_the_columns_settle_it():
    names = [f"s{i}" for i in range(5, -1, -1)]
    made = plan({"X": matrix(), "y": labels(names)})
    assert made.inputs["X"][0].shape == (6, 12)
    assert made.inputs["X"][0].row_names == made.inputs["y"][0].row_names
    assert "the names of the samples are those of its columns" in made.placed[0].text
    rows = plan({"X": matrix(), "y": labels([f"g{i}" for i in range(12)])})
    assert rows.inputs["X"][0].shape == (12, 6)
    assert not rows.placed[0].text


def test_names_go_before_a_word_that_they_contradict():
    data = matrix(samples_in="rows", row_label="samples", column_label="genes")
    made = plan({"X": data, "y": labels([f"s{i}" for i in range(6)])})
    assert made.inputs["X"][0].described == "6 samples × 12 features"
    assert made.placed[0].text.startswith("12 features × 6 samples: transposed")


def test_unnamed_labels_settle_it_by_their_number():
    data = Dataset(
        "a", np.zeros((4, 3)), [f"row {i + 1}" for i in range(4)], [f"column {i + 1}" for i in range(3)]
    )
    (one,) = placed((X, Y), {"X": [data], "y": [labels([f"row {i + 1}" for i in range(4)])]})
    assert one.axis == 0


def test_two_views_of_different_orientation_are_joined():
    first = matrix("a", "s", "m", (6, 4), samples_in="rows")
    second = matrix("b", "g", "s", (5, 7))
    inputs, told = orient((VIEWS,), {"views": (first, second)})
    assert [data.shape for data in inputs["views"]] == [(6, 4), (7, 5)]
    assert [one.turns for one in told] == [False, True]
    unclear, _ = orient((VIEWS,), {"views": (first.with_(samples_in=""), second)})
    assert [data.shape for data in unclear["views"]] == [(6, 4), (7, 5)]


def test_a_matrix_of_names_on_both_axes_is_left_alone():
    square = matrix("a", "s", "s", (6, 6))
    (one,) = placed((X, Y), {"X": [square], "y": [labels(square.row_names)]})
    assert one.axis is None


def test_a_turned_matrix_is_a_dataset_of_its_own():
    session = Session()
    data = session.add_dataset(matrix(samples_in="columns"))
    made = plan({"X": data}, taken=session.datasets)
    run = session.add_run(made)
    assert list(session.datasets) == ["expr", "expr, transposed"]
    assert run.inputs == {"X": ("expr, transposed",)}
    assert "transposed" in run.log[0].text
    again = session.add_run(plan({"X": data}, taken=session.datasets))
    assert again.inputs == run.inputs
    other = data.with_(values=data.values + 1)
    assert session.add_run(plan({"X": other}, taken=session.datasets)).inputs == {
        "X": ("expr, transposed 2",)
    }


# -- sessions -----------------------------------------------------------------------------------------
KNOWN = registry_of(Means)


def fitted(session, inputs, **more):
    from plaidwork.core.inference.execution import execute

    made = plan(inputs, taken=session.datasets, **more)
    run = session.add_run(made)
    execute(run, made, InlineExecutor())
    return run


def test_a_session_keeps_it_and_gives_the_same_plan(tmp_path):
    session = Session()
    run = fitted(session, {"X": matrix(samples_in="columns")})
    found = open_session(session.save(tmp_path / "a.plaidwork"))
    assert found.datasets["expr"].samples_in == "rows"
    again = found.plan_of(found.runs[run.id], KNOWN)
    assert again.data_hash == run.data_hash
    assert again.inputs["X"][0].shape == (6, 12)


def test_a_run_made_before_is_not_turned_afterwards(tmp_path, monkeypatch):
    """A session of an earlier version: genes were fitted as samples, and so they are when the run goes on."""
    session = Session()
    run = fitted(session, {"X": matrix(row_label="genes", column_label="samples")}, turn=False)
    fields = stored._fields
    monkeypatch.setattr(
        stored, "_fields", lambda *of: {k: v for k, v in fields(*of).items() if k != "samples_in"}
    )
    found = open_session(session.save(tmp_path / "a.plaidwork"))
    assert found.datasets["expr"].samples_in == ""
    assert found.plan_of(found.runs[run.id], KNOWN).inputs["X"][0].shape == (12, 6)
    found.replace_dataset("expr", found.datasets["expr"].with_(samples_in="columns"))
    assert found.plan_of(found.runs[run.id], KNOWN).data_hash == run.data_hash


def test_draws_are_those_of_the_matrix_turned_by_hand():
    data = matrix(samples_in="columns")
    first = fitted(Session(), {"X": data})
    second = fitted(Session(), {"X": apply_steps(data, [{"name": "transpose"}])})
    assert np.array_equal(first.draws["mean"], second.draws["mean"])


# -- files, Python and the command line ---------------------------------------------------------------
TABLE = "{},s1,s2,s3\n" + "\n".join(f"g{i},{i},{i + 0.5},{-i}" for i in range(5)) + "\n"


@pytest.mark.parametrize(
    ("head", "options", "samples_in", "words"),
    [
        ("gene", {}, "columns", "5 genes × 3 samples"),
        ("patient", {}, "rows", "5 patients × 3 features"),
        ("", {}, "", "5 rows × 3 columns"),
        ("", {"samples_in": "columns"}, "columns", "5 features × 3 samples"),
        ("gene", {"samples_in": ""}, "", "5 rows × 3 columns"),
        ("gene", {"transpose": True}, "rows", "3 samples × 5 genes"),
    ],
)
def test_a_table_says_where_its_samples_are(tmp_path, head, options, samples_in, words):
    path = tmp_path / "expr.csv"
    path.write_text(TABLE.format(head))
    found = read_dataset(path, options)
    assert (found.samples_in, found.described) == (samples_in, words)


def test_names_of_genes_are_a_guess_that_is_told(tmp_path):
    from plaidwork.core.data.importers.delimited import DelimitedReader

    path = tmp_path / "expr.csv"
    lines = [f"ENSG0000014151{i},{i}.5,{-i}" for i in range(5)]
    path.write_text("\n".join(["id,A,B", *lines]))
    assert read_dataset(path).samples_in == "columns"
    issues = DelimitedReader().preview(path, {}).issues
    assert any("The samples seem to be the columns" in issue.message for issue in issues)
    told = DelimitedReader().preview(path, {"samples_in": "columns"}).issues
    assert not any("seem to be" in issue.message for issue in told)


def test_an_array_file_can_be_told(tmp_path):
    np.save(tmp_path / "x.npy", np.ones((3, 2)))
    assert read_dataset(tmp_path / "x.npy").samples_in == ""
    assert read_dataset(tmp_path / "x.npy", {"samples_in": "columns"}).samples_in == "columns"
    with pytest.raises(DataError, match="option samples_in must be"):
        read_dataset(tmp_path / "x.npy", {"samples_in": "both"})


@pytest.fixture
def installed(monkeypatch):
    import plaidwork.core.cli.fitting as cli_fitting
    from plaidwork.core.session import fitting as one_call

    for module in (cli_fitting, one_call):
        monkeypatch.setattr(module, "registry", lambda: KNOWN)


def test_python_is_told(installed):
    values = np.random.default_rng(1).normal(size=(7, 4))
    run = fit("toy_means", {"X": values}, samples_in="columns", executor=InlineExecutor())
    assert run.draws["mean"].shape[-1] == 7
    assert "transposed" in run.log[0].text
    plain = fit("toy_means", {"X": values}, executor=InlineExecutor())
    assert plain.draws["mean"].shape[-1] == 4
    assert "nothing says" in plain.log[0].text
    with pytest.raises(SettingError, match="not given"):
        fit("toy_means", {"X": values}, samples_in={"Z": "rows"})
    with pytest.raises(SettingError, match="“rows” or “columns”"):
        fit("toy_means", {"X": values}, samples_in="both")


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "expr.csv"
    path.write_text(TABLE.format(""))
    return path


def _fit(table, out, *more):
    return main(
        ["fit", "toy_means", "--input", f"X={table}", "--out", str(out), "--executor", "inline", *more]
    )


def test_the_command_line_says_what_it_does(installed, table, tmp_path, capsys):
    out = tmp_path / "a.plaidwork"
    assert _fit(table, out) == 0
    told = capsys.readouterr().err
    assert "nothing says whether rows or columns are the samples; the 5 rows are taken for them" in told
    assert "--samples-in X=columns" in told
    assert _fit(table, out, "--force", "--samples-in", "X=columns") == 0
    assert "expr, 5 features × 3 samples: transposed" in capsys.readouterr().err
    (data,) = open_session(out).datasets.values()
    assert (data.shape, data.samples_in) == ((3, 5), "rows")
    assert _fit(table, out, "--force", "--samples-in", "rows") == 0
    assert "samples" not in capsys.readouterr().err


def test_the_command_line_tells_a_program(installed, table, tmp_path, capsys):
    assert _fit(table, tmp_path / "a.plaidwork", "--samples-in", "columns", "--json") == 0
    events = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    (event,) = (event for event in events if event["event"] == "samples")
    assert (event["input"], event["data"], event["turned"]) == ("X", "expr", True)


@pytest.mark.parametrize("text", ["X=both", "Z=rows", "up"])
def test_a_wrong_option_is_refused(installed, table, tmp_path, capsys, text):
    assert _fit(table, tmp_path / "a.plaidwork", "--samples-in", text) == 2
    assert "--samples-in" in capsys.readouterr().err


def test_a_session_as_input_can_be_told(installed, tmp_path, capsys):
    session = Session()
    session.add_dataset(matrix())
    path = session.save(tmp_path / "data.plaidwork")
    assert _fit(path, tmp_path / "a.plaidwork", "--samples-in", "columns") == 0
    assert "12 features × 6 samples: transposed" in capsys.readouterr().err


def test_a_job_file_says_it(table, tmp_path):
    path = tmp_path / "job.toml"
    path.write_text(
        'model = "toy_means"\n[inputs]\nX = { file = "expr.csv", fields = { samples_in = "columns" } }\n'
    )
    (data,) = read_job(path).load(Means.spec)["X"]
    assert data.samples_in == "columns"


def test_an_exported_job_is_not_turned_again(tmp_path):
    from plaidwork.core.session.exporting import job_of

    session = Session()
    run = fitted(session, {"X": matrix(row_label="genes", column_label="samples")}, turn=False)
    loaded = job_of(run, session, tmp_path / "data").load(Means.spec)
    assert plan(loaded).data_hash == run.data_hash


def test_a_study_turns_once():
    from plaidwork.core.study import Study

    study = Study.grid(
        Means(), {"X": matrix(samples_in="columns")}, seeds=(1, 2), schedule=Means.spec.schedule
    )
    assert study.plan(study.jobs[1]).inputs["X"][0].shape == (6, 12)
    assert study.placed[0].turns
    session = Session()
    study.add_to(session)
    again = Study.load(session, study, KNOWN)
    assert again.base_plan().data_hash == study.data_hash


def test_new_samples_are_told_by_the_features_of_the_fit():
    from plaidwork.core.findings.analysis_inputs import AnalysisInputs
    from plaidwork.core.findings.new_samples import new_samples

    session = Session()
    run = fitted(session, {"X": matrix(rows="s", columns="g", samples_in="rows")})
    fresh = matrix("new", "g", "t", (6, 4))
    log = []
    asked = AnalysisInputs(new_samples(Means).spec, run, session.datasets, {"new_X": fresh}, log)
    assert asked.chosen["new_X"][0].shape == (4, 6)
    assert "transposed" in log[0].text
