"""``--leave`` and ``resume``: a command hands its fit to a cluster and ends; another brings it back."""

import json
import re
import time

import numpy as np
import pytest

from plaidwork.core.cli import main
from plaidwork.core.session.left_fits import left_fits
from plaidwork.core.session.session import open_session

distributed = pytest.importorskip("distributed")
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

WORDS = ["--set", "blocks=2", "--chains", "2", "--warmup", "20", "--draws", "40"]


@pytest.fixture
def table(tmp_path, monkeypatch):
    monkeypatch.setenv("PLAIDWORK_CONFIG", str(tmp_path / "config"))
    values = np.random.default_rng(1).normal(size=(20, 8))
    lines = [",".join(["", *(f"c{j}" for j in range(8))])]
    lines += [",".join([f"r{i}", *map(str, row)]) for i, row in enumerate(values)]
    (tmp_path / "x.csv").write_text("\n".join(lines))
    return f"X={tmp_path / 'x.csv'}"


@pytest.fixture(scope="module")
def address():
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address="127.0.0.1:0"
    ) as made:
        yield made.scheduler_address


def run_of(path):
    return next(iter(open_session(path).runs.values()))


def test_a_fit_is_left_and_brought_back(table, address, tmp_path, capsys):
    here, there = tmp_path / "here.plaidwork", tmp_path / "there.plaidwork"
    fit = ["fit", "bayesian_plaid", "--input", table, *WORDS]
    assert main([*fit, "--out", str(here)]) == 0
    assert main([*fit, "--cluster", address, "--leave", "--out", str(there)]) == 0
    assert f"Bring it back with: plaidwork resume {there}" in capsys.readouterr().out
    assert run_of(there).sweeps_done == 0
    time.sleep(10)
    assert main(["resume", str(there)]) == 0
    said = capsys.readouterr().out
    assert re.search(rf"Back from {address}, with \d+ further sweep", said)
    one, other = run_of(here), run_of(there)
    assert other.status == "done"
    assert set(one.results) == set(other.results)
    for name in one.draws:
        assert np.array_equal(one.draws[name], other.draws[name], equal_nan=True)
    assert left_fits() == {}
    assert main(["resume", str(there)]) == 2
    assert "is done" in capsys.readouterr().err


def test_one_that_is_lost_says_how_to_go_on(table, address, tmp_path, capsys):
    path = tmp_path / "s.plaidwork"
    fit = ["fit", "bayesian_plaid", "--input", table, *WORDS]
    assert main([*fit, "--cluster", address, "--leave", "--json", "--out", str(path)]) == 0
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["event"] == "left"
    (known,) = left_fits().values()
    with distributed.Client(address) as client:
        client.unpublish_dataset(known.name)
    assert main(["resume", str(path)]) == 2
    assert "add --abandon" in capsys.readouterr().err
    assert main(["resume", str(path), "--abandon"]) == 0
    assert run_of(path).status == "done"
    assert left_fits() == {}


@pytest.mark.parametrize("where", [[], ["--cluster", "local:2"]])
def test_there_is_nothing_to_leave_it_on(table, where, tmp_path, capsys):
    out = ["--out", str(tmp_path / "s.plaidwork")]
    assert main(["fit", "bayesian_plaid", "--input", table, *WORDS, *where, "--leave", *out]) == 2
    assert "--leave needs --cluster" in capsys.readouterr().err
