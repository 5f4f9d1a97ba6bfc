"""Starts from singular vectors do not hang on the signs that a LAPACK gives them."""

import group_factor_tools
import numpy as np
import pytest
from supervised_ibp_tools import plain_corpus

from plaidwork.plugins.group_factor import start as group_start
from plaidwork.plugins.supervised_ibp import start as topic_start

eigh, svd = np.linalg.eigh, np.linalg.svd


def _other_library(monkeypatch):
    """Every second vector the other way round, as another processor may have it."""

    def turned_eigh(matrix):
        values, vectors = eigh(matrix)
        return values, vectors * (-1.0) ** np.arange(vectors.shape[1])

    def turned_svd(matrix):
        left, values, right = svd(matrix)
        sign = (-1.0) ** np.arange(len(values))
        return left * sign, values, right * sign[:, None]

    monkeypatch.setattr(np.linalg, "eigh", turned_eigh)
    monkeypatch.setattr(np.linalg, "svd", turned_svd)


def _factors(init):
    _, plan, state = group_factor_tools.start({"init": init, "n_factors": 6}, absent=0)
    while not group_start.advance_start(state, plan.data, plan.params):
        pass
    return state["z"]


def _topics():
    rng = np.random.default_rng(3)
    corpus = plain_corpus(rng.poisson(0.7, (40, 30)) * 1.0, rng.standard_normal(40))
    state = {"at": 0, "nu": np.zeros((40, 5))} | topic_start.begin_search(corpus, 5, np.random.default_rng(1))
    while "basis" in state:
        topic_start.seek(state, corpus, 10_000)
    return state["nu"]


@pytest.mark.parametrize(
    "made", [lambda: _factors("varimax"), lambda: _factors("pca"), _topics], ids=["varimax", "pca", "topics"]
)
def test_start_is_the_same_whichever_signs(made, monkeypatch):
    here = made()
    _other_library(monkeypatch)
    np.testing.assert_allclose(made(), here, atol=1e-6)
