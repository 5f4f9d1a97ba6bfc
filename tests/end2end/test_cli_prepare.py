"""The command ``plaidwork prepare``: kernels that are compiled ahead, of which models, and what is said when that fails."""

import os
import subprocess
import sys

import pytest

from plaidwork.core.cli import main

GUEST = """
from conforming import Means

class Failing(Means):
    def prepare(self):
        raise OSError("no compiler")

def plaidwork_models():
    return [Failing]
"""


def test_an_unknown_model_is_told_before_anything_is_compiled(capsys):
    assert main(["prepare", "infinite_plaid", "nonsense"]) == 2
    told = capsys.readouterr()
    assert "“nonsense” is not installed" in told.err
    assert not told.out


@pytest.mark.long
def test_kernels_are_kept_where_the_variable_says(tmp_path):
    done = _prepare(tmp_path, "binary_pca")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("binary_pca")
    assert str(tmp_path / "kernels") in done.stdout


@pytest.mark.long
def test_a_model_that_fails_is_named_and_the_others_are_ready(tmp_path):
    (tmp_path / "failing_guest.py").write_text(GUEST)
    done = _prepare(tmp_path, "right.means", "binary_pca", "--plugin-dir", str(tmp_path))
    assert done.returncode == 3
    assert "The kernels of right.means could not be compiled: no compiler" in done.stderr
    assert "binary_pca" in done.stdout


def _prepare(folder, *words):
    return subprocess.run(
        [sys.executable, "-m", "plaidwork.core.cli", "prepare", *words],
        env=os.environ | {"PLAIDWORK_KERNELS": str(folder / "kernels"), "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
