"""Commands ended with kill -9 at random moments: what is left opens, nothing that was kept is lost, and fits end with equal draws.

Many more, and the window: ``PYTHONPATH=tests python -m fuzz.kills`` (CONTRIBUTING.md).
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="fork and kill -9")


def _kills(number, *more):
    tests = str(Path(__file__).parents[1])
    path = os.pathsep.join(filter(None, (tests, os.environ.get("PYTHONPATH"))))
    done = subprocess.run(
        [sys.executable, "-m", "fuzz.kills", "--kills", str(number), *more],
        capture_output=True, text=True, timeout=800, check=False, env={**os.environ, "PYTHONPATH": path},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert done.stdout.splitlines()[-1].startswith(f"{number} kills")
    assert "faults: 0" in done.stdout


@pytest.mark.slow
def test_commands_and_window_that_are_killed():
    _kills(10)
