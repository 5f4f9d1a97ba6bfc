"""How much memory of its own a process takes that fits from counts which stay out of memory (Linux counts it apart from pages of files)."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_matrix, save_npz

DOCUMENTS, WORDS, EACH = 20_000, 2_000, 300
MATRIX = 12 * DOCUMENTS * EACH
"""Bytes of the counts in memory."""
CHILD = """
import sys, threading, time
from pathlib import Path

import numpy as np

from plaidwork.core.data import mapped
from plaidwork.core.data.dataset import Dataset
from plaidwork.core.data.importers.reading import read_dataset
from plaidwork.core.session.fitting import fit

mapped.AT_ONCE = 1 << 17
most, model, path, where = [0], *sys.argv[1:]


def own():
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith("RssAnon"))


def watch():
    while True:
        most[0] = max(most[0], own())
        time.sleep(0.005)


small = Dataset("X", np.random.default_rng(0).poisson(0.5, (60, 20)).astype(float), [f"row {i}" for i in range(60)], [f"column {i}" for i in range(20)], kind="count")
kept = {"supervised_ibp": {"max_sweeps": 2}, "hdp_topics": {"warmup": 1, "draws": 1}}[model]
given = {"supervised_ibp": {"n_topics": 3, "moves": 0, "start": "sparse"}, "hdp_topics": {"left_out": 0.1}}[model]


def inputs(data):
    y = np.random.default_rng(0).standard_normal(data.shape[0])
    return {"X": data} | ({"y": Dataset("y", y, data.row_names)} if model == "supervised_ibp" else {})


fit(model, inputs(small), given, chains=1, **kept)  # whatever is imported and compiled
before = own()
threading.Thread(target=watch, daemon=True).start()
data = read_dataset(path, {"values_in": where, "sparse": True})
fit(model, inputs(data), given, chains=1, **kept)
print(most[0] - before)
"""


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    rng = np.random.default_rng(1)
    columns = np.argsort(rng.random((1000, WORDS)), axis=1)[:, :EACH]
    columns = np.sort(columns, axis=1)[rng.integers(0, 1000, DOCUMENTS)].astype(np.int32)
    data = rng.integers(1, 3, DOCUMENTS * EACH).astype(np.float32)
    pointer = np.arange(DOCUMENTS + 1, dtype=np.int32) * EACH
    found = tmp_path_factory.mktemp("counts") / "x.npz"
    save_npz(found, csr_matrix((data, columns.ravel(), pointer), (DOCUMENTS, WORDS)), compressed=False)
    return found


def most_memory(model, path, where, scratch):
    found = subprocess.run(
        [sys.executable, "-c", CHILD, model, str(path), where], capture_output=True, text=True, check=False,
        env={**os.environ, "PLAIDWORK_SCRATCH": str(scratch)},
    )  # fmt: skip
    assert found.returncode == 0, found.stderr[-2000:]
    return int(found.stdout.split()[-1])


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="only Linux tells memory apart")
@pytest.mark.parametrize("model", ["supervised_ibp", "hdp_topics"])
def test_a_fit_from_the_file_takes_much_less_than_the_matrix(path, tmp_path, model):
    """Of topics, a chain has two bytes for each word, twice; a copy of the training half alone would be seen."""
    here, there = (most_memory(model, path, where, tmp_path / "s") for where in ("file", "memory"))
    assert here < there - MATRIX
    if model == "supervised_ibp":
        assert here < 0.6 * MATRIX
