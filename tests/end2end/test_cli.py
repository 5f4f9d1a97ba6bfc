"""Every command, on small data: what it writes, what it says, and its exit code."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sparing import some
from toys import Climb, Walk, matrix

from plaidwork.core import open_session
from plaidwork.core.cli import main
from plaidwork.core.cli.options import COMMANDS
from plaidwork.core.data.input_addresses import plain_value
from plaidwork.core.session.exporting import job_toml
from tests.registries import registry_of

EXAMPLES = Path(__file__).resolve().parents[2] / "resources" / "examples"
MATRIX = EXAMPLES / "plaid" / "synth2.npz"
QUICK = ["--chains", "2", "--warmup", "2", "--draws", "3"]


def _fit_args(out, *more):
    source = ["--input", f"X={MATRIX}", "--import-option", "array=X"]
    return ["fit", "infinite_plaid", *source, *QUICK, "--out", str(out), *more]


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    """A session of the infinite plaid model with two chains of five sweeps."""
    path = tmp_path_factory.mktemp("fitted") / "blocks.plaidwork"
    assert main(_fit_args(path, "--seed", "5")) == 0
    return path


@pytest.fixture
def toys(monkeypatch, tmp_path):
    """The toy models instead of the real ones, and a CSV for them; returns the start of a command."""
    from plaidwork.core.cli import fitting, looking, resuming, verifying

    found = registry_of(Walk, Climb)
    for module in (fitting, looking, resuming, verifying):
        monkeypatch.setattr(module, "registry", lambda: found)
    path = tmp_path / "m.csv"
    lines = [",".join(["id", "a", "b", "c", "d"])]
    lines += [f"r{i}," + ",".join(repr(float(v)) for v in row) for i, row in enumerate(matrix())]
    path.write_text("\n".join(lines) + "\n")
    return ["--input", f"X={path}"]


def _json_lines(text):
    return [json.loads(line) for line in text.splitlines()]


def test_models(capsys):
    assert main(["models"]) == 0
    assert "infinite_plaid" in capsys.readouterr().out
    assert main(["models", "--json"]) == 0
    ids = {record["id"] for record in json.loads(capsys.readouterr().out)}
    assert "infinite_plaid" in ids


def test_a_model_is_described(capsys):
    assert main(["models", "infinite_plaid"]) == 0
    said = capsys.readouterr().out
    assert "plaidwork fit infinite_plaid --input X=FILE --out mine.plaidwork" in said
    assert "expected_blocks Blocks expected beforehand (> 0; usual: 1.0)." in " ".join(said.split())
    assert "**" not in said
    assert main(["models", "infinite_plaid", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["id"] == "infinite_plaid"
    assert main(["models", "infinit_plaid"]) == 2
    assert "Did you mean “infinite_plaid”?" in capsys.readouterr().err


def test_fit_and_info(fitted, capsys):
    capsys.readouterr()
    assert main(["info", str(fitted)]) == 0
    assert "6 draws, 10 of 10 sweeps in 2 chains, seed 5" in capsys.readouterr().out
    assert main(["info", str(fitted), "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["runs"][0]["status"] == "done"
    assert record["runs"][0]["model"] == "infinite_plaid"
    assert record["datasets"][0]["shape"] == [100, 200]


def test_verify_says_equal(fitted, capsys):
    assert main(["verify", str(fitted), "--sweeps", "4"]) == 0
    assert "equal in 2 chains over 4 sweeps" in capsys.readouterr().out


@pytest.mark.long
def test_verify_says_where_it_differs(fitted, tmp_path, capsys):
    session = open_session(fitted)
    (run,) = session.runs.values()
    run.seed += 1
    session.save(tmp_path / "other.plaidwork")
    assert main(["verify", str(tmp_path / "other.plaidwork"), "--sweeps", "2"]) == 3
    assert "differs from sweep 1 on. Chain 1, sweep 1: trace" in capsys.readouterr().out


@pytest.mark.slow
def test_verify_minds_the_last_bit_where_the_run_was_made(fitted, tmp_path, capsys):
    session = open_session(fitted)
    (run,) = session.runs.values()
    rows = run.chains[1].trace.rows()
    rows.flags.writeable = True
    column = run.chains[1].trace.names.index("log_joint")
    rows[3, column] = np.nextafter(rows[3, column], 0.0)
    session.save(tmp_path / "here.plaidwork")
    run.environment["BLAS"] = "another"
    session.save(tmp_path / "elsewhere.plaidwork")
    capsys.readouterr()
    assert main(["verify", str(tmp_path / "here.plaidwork"), "--sweeps", "4"]) == 3
    assert "it should have been equal to the bit" in capsys.readouterr().out
    assert main(["verify", str(tmp_path / "elsewhere.plaidwork"), "--sweeps", "4"]) == 0
    assert "equal within rounding" in capsys.readouterr().out


@pytest.mark.slow
def test_resume_extends_and_equals_a_longer_fit(fitted, tmp_path):
    out, longer = tmp_path / "out.plaidwork", tmp_path / "longer.plaidwork"
    assert main(["resume", str(fitted), "--draws", "2", "--out", str(out)]) == 0
    assert main([*_fit_args(longer, "--seed", "5"), "--draws", "5"]) == 0
    (first,), (second,) = open_session(out).runs.values(), open_session(longer).runs.values()
    assert first.n_draws == 10
    for one, two in zip(first.chains, second.chains, strict=True):
        assert np.array_equal(one.trace.rows(), two.trace.rows(), equal_nan=True)


def test_resume_of_a_finished_run_needs_draws(fitted, capsys):
    assert main(["resume", str(fitted)]) == 2
    assert "is done. Add --draws" in capsys.readouterr().err
    assert main(["resume", str(fitted), "--draws", "1", "--run", "Nobody"]) == 2
    assert "no run “Nobody”" in capsys.readouterr().err


@pytest.mark.long
def test_export(fitted, tmp_path, capsys):
    folder = tmp_path / "plain"
    assert main(["export", str(fitted), "--to", str(folder)]) == 0
    assert (folder / "session.json").exists()
    (traces,) = folder.glob("runs/*/traces.csv")
    assert len(traces.read_text().splitlines()) == 11
    (data,) = (folder / "data").glob("*.csv")
    stored = open_session(fitted).datasets
    row = data.read_text().splitlines()[1].split(",")
    assert [float(cell) for cell in row[1:]] == list(next(iter(stored.values())).values[0])
    assert main(["export", str(fitted), "--to", str(folder)]) == 2
    assert "not empty" in capsys.readouterr().err
    assert main(["export", str(fitted), "--to", str(folder), "--force"]) == 0


def test_export_of_pictures_on_paper(fitted, tmp_path):
    pytest.importorskip("PySide6")
    folder = tmp_path / "drawn"
    command = ["export", str(fitted), "--to", str(folder), "--picture", "Number of blocks"]
    assert main([*command, "--format", "svg", "--size", "85x60", "--no-title", "--provenance"]) == 0
    (picture,) = folder.glob("runs/*/pictures/*")
    assert picture.name == "Number-of-blocks.svg"
    text = picture.read_text(encoding="utf-8")
    assert 'width="84.9' in text or 'width="85' in text
    assert "Data: " in text
    assert ">Posterior" not in text


def test_names_are_shown_by_an_annotation(toys, tmp_path, capsys):
    path, out = tmp_path / "named.csv", tmp_path / "a.plaidwork"
    rows = [f"r{i},{'ab'[i % 2]} {i}," + ",".join(f"{v:.3f}" for v in row) for i, row in enumerate(matrix())]
    path.write_text("\n".join(["id,symbol,a,b,c,d", *rows]) + "\n")
    command = ["fit", "toy.walk", "--input", f"X={path}", *QUICK, "--out", str(out), "--shown-by"]
    assert main([*command, "X:row:symbol"]) == 0
    (data,) = open_session(out).datasets.values()
    assert data.row_shown_by == "symbol"
    assert data.row_names[0] == "r0"
    capsys.readouterr()
    for wrong, said in (
        ("X:row:sybmol", "has no annotation “sybmol” of its rows. There are: symbol."),
        ("symbol", "is named INPUT:row:TITLE"),
        ("Y:row:symbol", "Inputs given: X."),
    ):
        assert main([*command, wrong, "--force"]) == 2
        assert said in capsys.readouterr().err


def test_export_as_annotated_data(fitted, tmp_path, capsys):
    anndata = pytest.importorskip("anndata")
    path = tmp_path / "a.h5ad"
    assert main(["export", str(fitted), "--to", str(path)]) == 0
    assert capsys.readouterr().out == f"Wrote {path}\n"
    found = anndata.read_h5ad(path)
    assert found.shape == (100, 200)
    assert found.obsm["infinite_plaid_block_rows"].shape[0] == 100
    assert found.varm["infinite_plaid_block_columns"].shape[0] == 200
    assert found.uns["plaidwork_run"]["settings"]
    assert main(["export", str(fitted), "--to", str(path)]) == 2
    assert "exists already" in capsys.readouterr().err
    assert main(["export", str(fitted), "--to", str(path), "--force", "--run", "none"]) == 2
    assert main(["export", str(fitted), "--to", str(tmp_path / "folder"), "--run", "none"]) == 2


def test_examples_are_listed(capsys):
    assert main(["example"]) == 0
    listed = capsys.readouterr().out
    assert main(["example", "--json"]) == 0
    (record,) = _json_lines(capsys.readouterr().out)
    for sample in record["examples"]:
        assert sample["id"] in listed
        assert f"{sample['size']}  " in listed, "size and title do not run together"


@pytest.mark.long
def test_example_is_fitted(tmp_path, capsys):
    out = tmp_path / "e.plaidwork"
    assert main(["example", "three-blocks", "--out", str(out), *QUICK]) == 0
    assert str(out) in capsys.readouterr().out
    assert open_session(out).name == "Three hidden blocks"
    assert main(["example", "no-blocks"]) == 2
    assert "Known: " in capsys.readouterr().err


def test_a_fit_says_what_it_found_and_how_sure_it_is(tmp_path, toys, capsys):
    assert main(["fit", "toy.walk", *toys, "--out", str(tmp_path / "a.plaidwork"), "--chains", "1"]) == 0
    assert "Exploratory: one chain. One chain cannot show" in capsys.readouterr().out


@pytest.mark.slow
def test_a_fit_goes_on_until_it_has_settled_and_is_repeated_by_what_it_stores(tmp_path, toys, capsys):
    out, again = tmp_path / "g.plaidwork", tmp_path / "again.plaidwork"
    assert main(["fit", "toy.walk", *toys, "--out", str(out), "--json"]) == 0
    lines = _json_lines(capsys.readouterr().out)
    (length,) = [line["ended"] for line in lines if line["event"] == "length"]
    assert length.startswith("Ended without having settled after")  # a walk never comes to rest
    assert {"rhat", "ess"} <= set([line for line in lines if line["event"] == "progress"][-1])
    session = open_session(out)
    (run,) = session.runs.values()
    assert run.n_draws > 12
    assert main(["verify", str(out)]) == 0
    job = job_toml(run, session, tmp_path / "again.toml")
    assert main(["run", str(job), "--out", str(again)]) == 0
    (same,) = open_session(again).runs.values()
    assert same.goal is None
    assert [r.sweep for r in same.chains] == [r.sweep for r in run.chains]
    assert np.array_equal(same.draws["place"], run.draws["place"])
    capsys.readouterr()
    assert main(["resume", str(again)]) == 2
    assert "--budget SECONDS" in capsys.readouterr().err
    assert main(["resume", str(again), "--budget", "60"]) == 0
    (longer,) = open_session(again).runs.values()
    assert longer.goal.budget == 60
    assert longer.sweeps_done > same.sweeps_done


def test_json_lines(tmp_path, toys, capsys):
    out = tmp_path / "j.plaidwork"
    assert main(["fit", "toy.walk", *toys, "--out", str(out), "--json", "--budget", "0"]) == 0
    lines = _json_lines(capsys.readouterr().out)
    events = [line["event"] for line in lines]
    assert "length" not in events
    assert events[0] == "preparing"
    assert {"started", "finished", "progress"} <= set(events)
    assert lines[-1] == {"event": "saved", "path": str(out), "status": "done", "draws": 12}
    assert lines[-2]["event"] == "verdict"
    assert lines[-3]["sweeps"] == lines[-3]["planned"] == 30


@pytest.mark.long
@pytest.mark.parametrize("executor", some(["threads", "processes", "inline"], ["threads", "inline"]))
def test_job_file(tmp_path, toys, executor):
    job = tmp_path / "job.toml"
    job.write_text(
        f'model = "toy.walk"\nseed = 3\ntitle = "Mine"\nexecutor = "{executor}"\n[inputs.X]\nfile = "m.csv"\n'
        'steps = [{ name = "centre", options = { axis = "columns" } }]\n'
        "[settings]\nstride = 2\n[schedule]\nchains = 1\n"
    )
    assert main(["run", str(job), "--out", str(tmp_path / "r.plaidwork")]) == 0
    (run,) = open_session(tmp_path / "r.plaidwork").runs.values()
    assert (run.title, run.seed, run.params["stride"], len(run.chains)) == ("Mine", 3, 2.0, 1)
    data = next(iter(open_session(tmp_path / "r.plaidwork").datasets.values()))
    assert np.abs(data.values.mean(axis=0)).max() < 1e-9


@pytest.mark.slow
def test_same_numbers_from_file_and_options(tmp_path, toys):
    more = ["--transform", "centre:axis=columns", "--set", "stride=2", "--seed", "3", "--chains", "1"]
    assert main(["fit", "toy.walk", *toys, *more, "--out", str(tmp_path / "o.plaidwork")]) == 0
    test_job_file(tmp_path, toys, "inline")
    (one,) = open_session(tmp_path / "o.plaidwork").runs.values()
    (two,) = open_session(tmp_path / "r.plaidwork").runs.values()
    assert np.array_equal(one.chains[0].trace.rows(), two.chains[0].trace.rows())


def test_variational_model(tmp_path, toys, capsys):
    assert main(["fit", "toy.climb", *toys, "--out", str(tmp_path / "v.plaidwork")]) == 0
    (run,) = open_session(tmp_path / "v.plaidwork").runs.values()
    assert all(record.converged for record in run.chains)
    assert "sweeps kept" in capsys.readouterr().out
    rough = tmp_path / "rough.plaidwork"
    assert main(["fit", "toy.climb", *toys, "--tolerance", "0.5", "--out", str(rough)]) == 0
    (sooner,) = open_session(rough).runs.values()
    assert (run.schedule.tolerance, sooner.schedule.tolerance) == (Climb.spec.schedule.tolerance, 0.5)


def test_failing_model_is_saved_and_exits_3(tmp_path, toys, capsys):
    out = tmp_path / "f.plaidwork"
    assert main(["fit", "toy.walk", *toys, "--set", "fail_at=8", "--out", str(out)]) == 3
    assert "The walk has ended. Walk less." in capsys.readouterr().err
    (run,) = open_session(out).runs.values()
    assert run.status == "failed"


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["fti"], "Did you mean “fit”?"),
        (["fit"], "plaidwork fit needs MODEL, --input NAME=FILE and --out S.plaidwork."),
        (["models", "--jsn"], "Unrecognized"),
        (
            ["fit", "toy.walk", "--input", "X=none.csv", "--out", "a"],
            "none.csv for the input X does not exist",
        ),
        (["fit", "toy.walk", "--input", "X", "--out", "a"], "NAME=VALUE"),
        (["info", "none.plaidwork"], "none.plaidwork"),
        (["resume", "none.plaidwork"], "none.plaidwork"),
        (["verify", "none.plaidwork"], "none.plaidwork"),
        (["export", "none.plaidwork", "--to", "x"], "none.plaidwork"),
        (["export", "none.plaidwork", "--to", "x", "--size", "wide"], "as 170x105. Found “wide”"),
        (["export", "none.plaidwork", "--to", "x", "--size", "5x100"], "--size goes from 20 to 2000"),
        (["export", "none.plaidwork", "--to", "x", "--dpi", "9999"], "--dpi goes from 30 to 2400"),
        (["run", "none.toml", "--out", "a"], "none.toml does not exist"),
    ],
)
def test_bad_use_is_one_line_and_exit_2(tmp_path, monkeypatch, capsys, args, words):
    monkeypatch.chdir(tmp_path)
    assert main(args) == 2
    said = capsys.readouterr().err
    assert said.startswith("plaidwork: ")
    assert words in said
    assert said.count("\n") == 1


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--set", "stride=-1"], "needs a number (> 0). Found “-1”"),
        (["--set", "strid=1"], "Did you mean “stride”"),
        (["--set", "stride=1", "--set", "stride=2"], "given twice"),
        (["--chains", "0"], "chains must be"),
        (["--seed", "-1"], "seed"),
        (["--holdout", "0.9"], "0 to 0.5"),
        (["--transform", "shuffle"], "no transformation “shuffle”"),
        (["--import-option", "Y.delimiter=;"], "not given"),
        (["--out", "/no/such/folder/a.plaidwork"], "does not exist"),
    ],
)
def test_bad_values_are_told_before_the_fit(tmp_path, toys, capsys, more, words):
    out = tmp_path / "b.plaidwork"
    assert main(["fit", "toy.walk", *toys, "--out", str(out), *more]) == 2
    assert words in capsys.readouterr().err
    assert not out.exists()


def test_missing_model_suggests_another(tmp_path, toys, capsys):
    assert main(["fit", "toy.wal", *toys, "--out", str(tmp_path / "x")]) == 2
    assert "Did you mean “toy.walk”" in capsys.readouterr().err


@pytest.mark.long
def test_existing_file_stays_without_force(tmp_path, toys, capsys):
    out = tmp_path / "kept.plaidwork"
    out.write_text("mine")
    assert main(["fit", "toy.walk", *toys, "--out", str(out)]) == 2
    assert out.read_text() == "mine"
    assert "--force" in capsys.readouterr().err
    assert main(["fit", "toy.walk", *toys, "--out", str(out), "--force"]) == 0
    assert open_session(out).runs


@pytest.mark.parametrize(
    ("text", "record"),
    [
        ("model = ", "not a job file"),
        ('model = "toy.walk"', "needs a model and a table"),
        ('model = "toy.walk"\nspeed = 1\n[inputs]\nX = "m.csv"', "unknown key “speed”"),
        ('model = "toy.walk"\n[inputs]\nX = 3', "needs a file name"),
        ('model = "toy.walk"\n[inputs.X]\nfile = "m.csv"\nopt = 1', "unknown key “opt”"),
        ('model = "toy.walk"\nexecutor = "moon"\n[inputs]\nX = "m.csv"', "Found “moon”"),
        ('model = "toy.walk"\n[inputs]\nX = "m.csv"\n[schedule]\nchain = 1', "no “chain”"),
    ],
)
def test_wrong_job_files(tmp_path, toys, capsys, text, record):
    (tmp_path / "job.toml").write_text(text)
    assert main(["run", str(tmp_path / "job.toml"), "--out", str(tmp_path / "o")]) == 2
    assert record in capsys.readouterr().err


def test_debug_shows_the_traceback():
    with pytest.raises(Exception, match="none"):
        main(["info", "none.plaidwork", "--debug"])


def test_every_command_has_help(capsys):
    for name in COMMANDS:
        with pytest.raises(SystemExit) as caught:
            main([name, "--help"])
        assert caught.value.code == 0
        assert "usage: plaidwork" in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent another way")
def test_ctrl_c_keeps_what_was_done(tmp_path):
    out = tmp_path / "s.plaidwork"
    args = [*_fit_args(out, "--json"), "--draws", "200000"]
    process = subprocess.Popen(
        [sys.executable, "-m", "plaidwork.core.cli", *args],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    for line in process.stdout:
        record = json.loads(line)
        if record["event"] == "progress" and record["draws"] > 2:
            break
    process.send_signal(signal.SIGINT)
    said, complaint = process.communicate(timeout=60)
    assert process.returncode == 4, complaint
    assert _json_lines(said)[-1]["status"] == "stopped"
    assert "Traceback" not in complaint
    (run,) = open_session(out).runs.values()
    assert run.status == "stopped"
    assert run.resumable
    assert run.n_draws > 2


def test_bar_has_fixed_columns():
    from plaidwork.core.cli.progress import TerminalBar
    from plaidwork.core.data.objects import as_dataset
    from plaidwork.core.inference.plan import make_plan
    from plaidwork.core.inference.run import Run

    run = Run.from_plan(make_plan(Walk(), {"X": as_dataset("X", matrix())}))
    bar = TerminalBar()
    lengths = set()
    for sweeps in (0, 7, 15):
        for record in run.chains:
            record.sweep = sweeps
        bar.pace.add(run.sweeps_done, at=float(sweeps))
        lengths.add(len(bar.line(run)))
    assert "30/30 sweeps" in bar.line(run)
    assert len(lengths) == 1


@pytest.mark.parametrize(
    ("text", "value"),
    [("true", True), ("3", 3), ("1.5", 1.5), (";", ";"), ("NA,-", "NA,-"), ('"3"', "3"), ("[1]", [1])],
)
def test_options_are_typed_as_json(text, value):
    assert plain_value(text) == value


@pytest.mark.long
def test_several_files_of_one_input_are_joined_with_a_report(tmp_path, capsys):
    """A matrix with samples in its columns and a table of patients among them; what was joined is told."""
    rng = np.random.default_rng(3)
    rows = [f"s{i}" for i in range(12)]
    one, two, about = tmp_path / "rna.csv", tmp_path / "protein.csv", tmp_path / "patients.csv"
    one.write_text(
        "sample,a,b,c\n" + "".join(f"{r},{rng.normal()},{rng.normal()},{rng.normal()}\n" for r in rows)
    )
    turned = rows[4:]
    two.write_text(
        "gene," + ",".join(turned) + "\n"
        + "".join(f"p{j}," + ",".join(f"{rng.normal():.4f}" for _ in turned) + "\n" for j in range(4))
    )  # fmt: skip
    about.write_text("sample,sex\n" + "".join(f"{r},m\n" for r in rows))
    out = tmp_path / "joined.plaidwork"
    sources = [part for path in (one, two, about) for part in ("--input", f"views={path}")]
    fit = ["fit", "group_factor", *sources, "--set", "n_factors=2", "--max-sweeps", "3", "--chains", "1"]
    assert main([*fit, "--out", str(out)]) == 0
    told = capsys.readouterr().err
    assert "rna: 12 samples × 3 features, 8 of the samples in other views" in told
    assert "patients.csv: about samples, 12 of 12 names match" in told
    assert "12 samples in all, 8 of them in every view" in told
    assert "samples of protein are in the columns of protein.csv" in told
    data = open_session(out).datasets
    assert list(data) == ["rna", "protein"]
    assert set(data["protein"].row_table["sex"]) == {"m", ""}
    assert main([*fit, "--out", str(out), "--force", "--json"]) == 0
    joined = next(line for line in _json_lines(capsys.readouterr().out) if line["event"] == "joined")
    assert (joined["input"], joined["samples"], joined["in_every_view"]) == ("views", 12, 8)


def test_names_that_differ_in_spelling_are_told_and_matched_on_demand(tmp_path, capsys):
    rng = np.random.default_rng(3)
    for name, rows in (("a", [f"T-{i}" for i in range(6)]), ("b", [f"t.{i}" for i in range(6)])):
        lines = "".join(f"{row},{rng.normal()},{rng.normal()}\n" for row in rows)
        (tmp_path / f"{name}.csv").write_text(f"sample,{name}1,{name}2\n{lines}")
    out = tmp_path / "s.plaidwork"
    sources = ["--input", f"views={tmp_path / 'a.csv'}", "--input", f"views={tmp_path / 'b.csv'}"]
    fit = [
        "fit",
        "group_factor",
        *sources,
        "--set",
        "n_factors=1",
        "--max-sweeps",
        "2",
        "--chains",
        "1",
        "--out",
        str(out),
    ]
    assert main(fit) == 2
    told = capsys.readouterr().err
    assert "no sample in common" in told
    assert "“t.0” in b and “T-0”" in told
    assert main([*fit, "--import-option", "match_spelling=true"]) == 0
    assert "6 samples in all, 6 of them in every view" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (OSError(28, "No space left on device"), "The disk is full. Free some space, or write elsewhere."),
        (OSError(28, "No space left on device", "a.csv"), "The disk is full, at a.csv. Free some space"),
        (PermissionError(13, "Permission denied", "a.csv"), "a.csv cannot be opened or written: you have no right to."),
        (OSError(30, "Read-only file system", "a.csv"), "a.csv cannot be written: it is on a disk for reading only."),
        (IsADirectoryError(21, "Is a directory", "a"), "a is a folder. Name a file."),
        (OSError(36, "File name too long", "a"), "a cannot be used: file name too long. Check the place"),
    ],
)  # fmt: skip
def test_what_the_system_refuses_is_told_in_sentences(capsys, monkeypatch, error, said):
    def refuse(args):
        raise error

    monkeypatch.setattr("plaidwork.core.cli._run_command", refuse)
    assert main(["models"]) == 2
    found = capsys.readouterr().err
    assert said in found
    assert "Errno" not in found
