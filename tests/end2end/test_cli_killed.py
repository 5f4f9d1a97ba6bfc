"""Commands that are killed: what they had drawn is found by ``plaidwork resume``; files that others hold are left alone."""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress

import numpy as np
import pytest

from plaidwork.core.errors import SessionError
from plaidwork.core.session.session import open_session
from plaidwork.core.study import study_records

_FIT = """
import sys
from plaidwork.core.cli import main, saving
from plaidwork.core.inference import executor
saving.EVERY = 0.5
executor.CHECKPOINT_SECONDS = 0.2
sys.exit(main(sys.argv[1:]))
"""


@pytest.fixture
def table(tmp_path):
    rows = ["name," + ",".join(f"c{j}" for j in range(8))]
    rows += [f"r{i}," + ",".join(str((i * 7 + j * 3) % 11 / 4) for j in range(8)) for i in range(20)]
    (tmp_path / "x.csv").write_text("\n".join(rows) + "\n")
    return tmp_path / "x.csv"


@pytest.fixture
def environment(tmp_path):
    return {**os.environ, "XDG_STATE_HOME": str(tmp_path / "state"), "PYTHONUTF8": "1"}


def _run(environment, *args):
    return subprocess.run(
        [sys.executable, "-m", "plaidwork.core.cli", *map(str, args)],
        capture_output=True, text=True, env=environment, timeout=300, check=False,
    )  # fmt: skip


def _kept_sweeps(folder, beyond):
    """Wait until unsaved work of more than ``beyond`` sweeps is kept; how many it has. Compiling comes first."""
    for _ in range(1200):
        for kept in folder.glob("*.plaidwork"):
            with suppress(SessionError, OSError):  # it may just be replaced
                found = next(iter(open_session(kept).runs.values())).sweeps_done
                if found > beyond:
                    return found
        time.sleep(0.2)
    raise AssertionError("no work was kept")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="kill -9")
def test_a_killed_fit_is_found_again(tmp_path, table, environment):
    out, state = tmp_path / "out.plaidwork", tmp_path / "state" / "plaidwork" / "recovery"
    words = [
        "fit",
        "infinite_plaid",
        "--input",
        f"X={table}",
        "--draws",
        "1000000",
        "--chains",
        "2",
        "--out",
        str(out),
    ]
    with subprocess.Popen([sys.executable, "-c", _FIT, *words], env=environment) as process:
        swept = _kept_sweeps(state, 0)
        process.send_signal(signal.SIGKILL)
    assert not out.exists()
    with subprocess.Popen(
        [sys.executable, "-c", _FIT, "resume", str(out)], env=environment, stderr=subprocess.PIPE, text=True
    ) as process:
        _kept_sweeps(state, swept)
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=60)[1]
    assert "unsaved work" in said
    assert next(iter(open_session(out).runs.values())).sweeps_done > swept
    assert list(state.glob("*")) == []
    assert not list(tmp_path.glob(".*.lock"))


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="kill -9")
def test_a_killed_study_goes_on_with_the_fit_under_way(tmp_path, table, environment):
    """To the same draws as a study that nobody disturbed."""
    state = tmp_path / "state" / "plaidwork" / "recovery"
    words = ["study", "infinite_plaid", "--input", f"X={table}", "--draws", "3000", "--chains", "2"]
    words += ["--seeds", "1,2", "--keep", "2"]
    whole, out = tmp_path / "whole.plaidwork", tmp_path / "out.plaidwork"
    assert _run(environment, *words, "--out", whole).returncode == 0
    command = [sys.executable, "-c", _FIT, *map(str, words), "--out", str(out)]
    with subprocess.Popen(command, env=environment) as process:
        swept = _kept_sweeps(state, 0)
        process.send_signal(signal.SIGKILL)
    assert swept > 0
    assert not out.exists()
    done = _run(environment, "resume", out)
    assert done.returncode == 0, done.stderr
    assert "unsaved work" in done.stderr
    assert "fits are to be done" in done.stderr
    found, wanted = open_session(out), open_session(whole)
    (table_found,), (table_wanted,) = map(study_records, (found.studies, wanted.studies))
    assert [job.metrics for job in table_found.jobs] == [job.metrics for job in table_wanted.jobs]
    same = {run.title: run for run in wanted.runs.values()}
    assert found.runs
    for one in found.runs.values():
        other = same[one.title]
        assert one.status == "done"
        for name in ("alpha", "theta"):
            assert np.array_equal(one.draws[name], other.draws[name], equal_nan=True)
    assert list(state.glob("*")) == []


@pytest.mark.long
def test_a_command_does_not_write_what_a_window_has_open(tmp_path, environment):
    from plaidwork.core.session.lock import acquire
    from plaidwork.core.session.session import Session

    path = Session("S").save(tmp_path / "s.plaidwork")
    assert acquire(path) is None
    done = _run(environment, "example", "three-blocks", "--out", path, "--force")
    assert done.returncode == 2
    assert "open in another window or command on this computer" in done.stderr
    assert open_session(path).name == "S"
