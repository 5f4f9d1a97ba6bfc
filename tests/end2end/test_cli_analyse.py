"""The command ``analyse``, as it is typed."""

import json

import numpy as np
import pytest

from plaidwork.core.cli import main
from plaidwork.core.contract.model import Result, Table
from plaidwork.core.data.dataset import Dataset
from plaidwork.core.findings.analysis import Analysis, AnalysisSpec
from plaidwork.core.inference.plan import make_plan
from plaidwork.core.plugins.registry import registry
from plaidwork.core.session.session import Session, open_session
from tests.gui.factor_runs import FactorModel


class Opens(Analysis):
    spec = AnalysisSpec(
        id="toy.opens",
        version="1",
        title="Opens",
        summary="",
        needs={"scores": "scores"},
        unlocks="test half",
    )

    def run(self, results, data, params, report):
        report(0.5)
        return {"t": Table({"a": np.arange(2)})}


@pytest.fixture
def file(tmp_path, monkeypatch):
    """A session with a finished run of two factors."""
    monkeypatch.setitem(registry().ready()._catalogue["analyses"], "toy.opens", Opens)
    rng = np.random.default_rng(1)
    scores, weights = rng.normal(size=(40, 2)), rng.normal(0, 0.2, (2, 50))
    weights[1, :15] += 1
    data = Dataset(
        "drugs",
        rng.normal(size=(40, 50)),
        tuple(f"p{i}" for i in range(40)),
        tuple(f"g{i}" for i in range(50)),
        row_table={"half": np.array(["a", "b"] * 20), "dose": scores[:, 0] + 0.1 * rng.normal(size=40)},
        row_label="patients",
    )
    session = Session(name="s")
    run = session.add_run(make_plan(FactorModel(), {"X": data}), "First")
    run.status = "done"
    run.results = {
        "scores": Result(scores, ("patient", "factor")),
        "loadings": Result(weights, ("factor", "drug")),
        "factor": Result(np.array(["Factor 1", "Factor 2"]), ("factor",)),
    }
    return session.save(tmp_path / "s.plaidwork")


def analyse(file, *more):
    return main(["analyse", str(file), *map(str, more)])


def made(file):
    (run,) = open_session(file).runs.values()
    return run.analyses


def test_without_an_analysis_they_are_listed(file, capsys):
    assert analyse(file) == 0
    out = capsys.readouterr().out
    assert "factor_tools.covariates" in out
    assert "--annotation covariates=…  any of X:row:half, X:row:dose" in out
    assert "--file sets=…" in out
    assert "can be done once" in out
    assert analyse(file, "--json") == 0
    listed = json.loads(capsys.readouterr().out)
    assert {"toy.opens", "factor_tools.gene_sets"} <= {spec["id"] for spec in listed["offered"]}
    assert listed["made"] == []


@pytest.mark.long
def test_covariates_are_tested_kept_and_written(file, tmp_path, capsys):
    assert analyse(file, "factor_tools.covariates", "--to", tmp_path / "out") == 0
    assert capsys.readouterr().out.startswith("Factor 1 follows dose: Spearman correlation 0.9")
    (record,) = made(file)
    assert [ref.title for ref in record.annotations["covariates"]] == ["half", "dose"]
    table = (tmp_path / "out" / "associations.csv").read_text().splitlines()
    assert table[0].startswith("Factor,Covariate,Measure,Effect,Low,High,Adjusted p")
    assert len(table) == 1 + 2 * 2
    signed = (tmp_path / "out" / "signed.csv").read_text().splitlines()
    assert signed[0] == "name,Factor 1,Factor 2"
    about = json.loads((tmp_path / "out" / "analysis.json").read_text())
    assert about["annotations"] == {"covariates": ["X:row:half", "X:row:dose"]}
    assert analyse(file, "factor_tools.covariates", "--annotation", "covariates=half", "--json") == 0
    events = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [event["event"] for event in events] == ["analysis", "saved"]
    assert [len(record.annotations["covariates"]) for record in made(file)] == [2, 1]


def test_labels_are_added_first(file, tmp_path, capsys):
    labels = tmp_path / "labels.csv"
    labels.write_text("patient,site\n" + "".join(f"p{i},{'xyz'[i % 3]}\n" for i in range(40)))
    more = ("--labels", labels, "--annotation", "covariates=site")
    assert analyse(file, "factor_tools.covariates", *more) == 0
    assert "labels.csv: drugs: 40 of 40 names match." in capsys.readouterr().err
    assert "site" in open_session(file).datasets["drugs"].row_table


def test_gene_sets_from_a_file_into_another_session(file, tmp_path, capsys):
    sets = tmp_path / "sets.gmt"
    sets.write_text("UP\tx\t" + "\t".join(f"g{i}" for i in range(15)) + "\n")
    out = tmp_path / "other.plaidwork"
    more = ("--file", f"sets={sets}", "--set", "test=t", "--out", out)
    assert analyse(file, "factor_tools.gene_sets", *more) == 0
    assert "Positive weights of Factor 2 gather in UP: adjusted p = " in capsys.readouterr().out
    assert made(file) == []
    (record,) = made(out)
    assert record.files["sets"].content == sets.read_bytes()
    assert record.params["test"] == "t"
    assert main(["export", str(out), "--to", str(tmp_path / "all")]) == 0
    (folder,) = (tmp_path / "all" / "runs" / "First" / "analyses").iterdir()
    assert (folder / "files" / "sets.gmt").read_bytes() == sets.read_bytes()
    assert (folder / "enrichment.csv").exists()


def test_what_is_locked_needs_a_word(file, capsys):
    assert analyse(file, "toy.opens") == 2
    assert (
        "opens the test half, which can be done once. Say so explicitly (--unlock" in capsys.readouterr().err
    )
    assert made(file) == []
    assert analyse(file, "toy.opens", "--unlock") == 0
    assert "The test half was opened for this run at " in capsys.readouterr().out
    assert not made(file)[0].exploratory
    history = open_session(file).history
    assert [entry["what"] for entry in history if entry["action"] == "unlocked"] == ["test half"]


def test_what_was_opened_stays_opened_when_the_analysis_fails(file, monkeypatch, capsys):
    monkeypatch.setattr(Opens, "run", lambda *args: 1 / 0)
    assert analyse(file, "toy.opens", "--unlock") == 3
    assert made(file) == []
    history = open_session(file).history
    assert [entry["what"] for entry in history if entry["action"] == "unlocked"] == ["test half"]


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("nothing",), "The analysis “nothing” is not installed"),
        (("factor_tools.gene_sets",), "needs a file as “Gene sets” (sets)"),
        (("factor_tools.gene_sets", "--file", "sets=/no/such.gmt"), "does not exist"),
        (("factor_tools.gene_sets", "--file", "genes=x"), "has no “genes” for --file. Known: sets."),
        (("factor_tools.covariates", "--annotation", "covariates=zz"), "“Covariates” cannot be “zz”"),
        (("factor_tools.covariates", "--set", "least=0"), "Least items of a class"),
        (("factor_tools.covariates", "--run", "Third"), "has no run “Third”"),
    ],
)
def test_bad_use_is_one_line(file, capsys, args, words):
    assert analyse(file, *args) == 2
    err = capsys.readouterr().err
    assert words in err
    assert len(err.splitlines()) == 1
    assert made(file) == []
