"""The stages whose speed is told: data, how a sweep is timed, and beside it what each stage cannot do without.

Formulas: n samples, d features, k factors, topics or blocks; a product of an (a, b) and a (b, c) matrix is 2 a b c. Symmetric matrices
count half. An array is read or written once a stage, however often a kernel goes over it; what fits in the cache is counted
as ``near``, and only where the algorithm must take it from there cell by cell.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from machine import Work

Seconds = dict[str, float]
FACTORS, SCORES, TOPICS, BLOCKS, INDUCING = 15, 20, 20, 10, 60


@dataclass(frozen=True)
class Case:
    """A model on data of one size: ``seconds`` and ``work`` by stage, given the share of the rows that is wanted.

    ``seldom`` are stages of a few sweeps only, which are told and not counted to a sweep.
    """

    name: str
    seconds: Callable[[float], Seconds]
    work: Callable[[float], dict[str, Work]]
    seldom: tuple[str, ...] = ()


def timed(model: Any, data: Any, params: Any, sweeps: int, skipped: int = 2) -> Seconds:
    """Least CPU seconds of each stage over the sweeps, as the host takes them, after some to warm up."""
    from plaidwork.core.api import Clock
    from plaidwork.core.contract.stages import advance
    from plaidwork.core.inference.team import TEAM

    model.prepare()
    rng = np.random.Generator(np.random.PCG64DXSM(1))
    found: Seconds = {}
    with TEAM.chain(threads=1):
        state = model.init(data, params, rng)
        for sweep in range(sweeps + skipped):
            times: Seconds = {}
            while not advance(model, state, data, params, rng, Clock(sweep, 0), times):
                pass
            if sweep >= skipped:
                for stage, seconds in times.items():
                    found[stage] = min(seconds, found.get(stage, seconds))
    return found


def _group_factors(dtype: str) -> Case:
    def seconds(share: float) -> Seconds:
        from group_factor_speed import Ours, make_views

        ours = Ours(make_views(int(1000 * share), 2000)[0], dtype)
        return timed(ours.model, ours.data, ours.params, 16, 3)

    def work(share: float) -> dict[str, Work]:
        cells, item = 6e6 * share, 4.0 if dtype == "float32" else 8.0

        def of(flops: float, bytes_: float, exps: float = 0.0) -> Work:
            made = Work(far=cells * bytes_, exps=exps * cells)
            setattr(made, "flops32" if dtype == "float32" else "flops", cells * flops)
            return made

        k = FACTORS
        return {
            "weights": of(
                11 * k, item + 1
            ),  # <x> 2 a cell and factor, its update and two sums 9; T and y read
            "scores": of(11 * k, item + 1),
            "local": of(
                6 * k + 40, 2 * item + 1
            ),  # <x> 2, its variance 4, zeta and bound; T read and written
            "weak factors": Work(
                flops=cells * 10 * k, far=cells, exps=cells * (k + 1) * item / 8
            ),  # log(1 + e^-x) by factor and of all; twice as many at once in float32
        }

    return Case(f"group factors, {dtype}", seconds, work, ("weak factors",))


def _topics_of_outcomes(share: float) -> Seconds:
    from supervised_ibp_speed import model_data, word_counts

    from plaidwork.core.plugins.registry import registry

    rng, n = np.random.default_rng(0), int(10_000 * share)
    x = word_counts(n, 5000, int(775_000 * share), rng)
    model = registry().model("supervised_ibp")
    params = model.spec.check_params(
        {"start": "sparse", "test_share": 0.0, "together": False, "n_topics": TOPICS}
    )
    return timed(model, model_data(x, rng.standard_normal(n)), params, 20)


def _work_on_topics(share: float) -> dict[str, Work]:
    n, d, k, entries = 10_000 * share, 5000, TOPICS, 732_000 * share
    return {
        "assignments": Work(  # a sum over the words of rows, and what has changed back into the sums of the words
            flops=4 * entries * k + n * (2 * k * k + 2 * k * k), far=12 * entries + 16 * n * k, near=24 * entries * k,
            exps=n * k, logs=n * k,
        ),
        "means of the weights": Work(flops=d * (2 * k * k + k * k + 10 * k), far=32 * d * k),
    }  # fmt: skip


def _rank_factors(settings: dict[str, Any], name: str, rows: Callable[[float, float], Work]) -> Case:
    def seconds(share: float) -> Seconds:
        from rank_factor_speed import make_data

        from plaidwork.plugins.rank_factor.models import RankFactor

        model = RankFactor()
        params = model.spec.check_params({"n_factors": SCORES, "classifier": "linear", **settings})
        return timed(model, make_data(np.random.default_rng(0), int(767 * share)), params, 30, 3)

    def work(share: float) -> dict[str, Work]:
        n, d, k = 767 * share, 256, SCORES
        normal = k**3 / 3 + 4 * k * k  # factor, two solutions
        found = rows(n, d)
        found.flops += d * normal
        found.normals += d * k
        found.uniforms, found.exps = (
            found.uniforms + 3 * d * k,
            found.exps + 6 * d * k,
        )  # shrinkage: GIG and gamma
        pairs = settings.get("scheme") == "pairs"
        sums = (
            4 * (2 * 7 / 8 * n * d) + 4 * n * d * k if pairs else 0.0
        )  # each pair at two samples; pull A, A z
        return {
            "rows": found,
            "scores": Work(flops=n * normal + sums, normals=n * k),
            "measure": Work(flops=2 * n * d * k + 8 * n * d, far=n * d),
        }

    return Case(f"rank factors, {name}", seconds, work)


def _levels(n: float, d: float) -> Work:
    """Two packed products, <w> and two linear terms; of 14 comparisons to 8 cells a square, a root and a uniform number each."""
    packed, cells = SCORES * (SCORES + 1) / 2, n * d * 14 / 8
    flops = 4 * n * d * packed + 6 * n * d * SCORES + 12 * cells
    return Work(flops=flops, far=n * d, normals=cells, uniforms=cells)


def _pairs(n: float, d: float) -> Work:
    """Differences of scores in place of the scores: as many as there are pairs, some 7 / 8 n d."""
    packed, cells = SCORES * (SCORES + 1) / 2, n * d * 7 / 8
    flops = 2 * cells * packed + 2 * n * d * packed + 2 * n * d * SCORES + 6 * cells * SCORES + 6 * cells
    return Work(flops=flops, far=8 * cells, near=16 * cells * SCORES, normals=cells, uniforms=cells)


def _values(n: float, d: float) -> Work:
    """x z twice (noise, loadings), x' a, z z' packed."""
    return Work(flops=6 * n * d * SCORES + n * SCORES * SCORES, far=8 * n * d)


def _plaid(share: float) -> Seconds:
    from plaid_speed import make_data

    from plaidwork.plugins.plaid.models import InfinitePlaid

    model = InfinitePlaid()
    params = model.spec.check_params({"start": "given"})
    return timed(model, make_data(int(5000 * share), 2000, np.random.default_rng(0)), params, 8)


def _work_on_plaid(share: float) -> dict[str, Work]:
    """The scans alone, without moves: every row once for all blocks, a tenth of the rows for each; three functions an entry."""
    n, m, k = 5000 * share, 2000, BLOCKS
    entries = k * (n + m)
    work = Work(
        flops=k * n * m * 0.2,
        far=8 * n * m * (1 + 0.1 * k),
        uniforms=entries,
        exps=2 * entries,
        logs=2 * entries,
    )
    return {"blocks of replica 1": work}


def _process(share: float) -> Seconds:
    from gp_speed import make_data

    from plaidwork.plugins.gp_auxiliary.classes.classify import Classes

    model = Classes()
    params = model.spec.check_params(
        {"parameters": "fixed", "covariance": "rbf", "form": "inducing", "inducing": INDUCING}
    )
    return timed(model, make_data(int(20_000 * share), np.random.default_rng(20140510)), params, 60, 20)


def _work_on_process(share: float) -> dict[str, Work]:
    """Four slopes of the density (f, and its part of the gradient), then f and z; an erfc, an exp and a log each time."""
    n, passes = 20_000 * share, 4
    flops = n * INDUCING * (4 * passes + 2)
    far = 8 * n * INDUCING * (passes + 1)
    return {
        "auxiliary variables": Work(
            flops=flops, far=far, normals=1.5 * n, exps=2 * passes * n, logs=passes * n
        )
    }


def _sites(share: float) -> Seconds:
    import time

    from gp_speed import sampler

    _step, replica, (_prior, labels, _widths) = sampler(int(20_000 * share), "rbf", "inducing", 40)
    rng, least = np.random.Generator(np.random.PCG64DXSM(3)), np.inf
    for _ in range(40):
        start = time.thread_time()
        labels.sweep(rng, replica, 5, 0.0)
        least = min(least, (time.thread_time() - start) / 5)
    return {"one by one": least}


def _work_on_sites(share: float) -> dict[str, Work]:
    """The mean given all others and what its change adds to ``rows' z``; about 1.5 normal numbers for one within bounds."""
    n = 20_000 * share
    return {"one by one": Work(flops=4 * n * INDUCING, far=8 * n * INDUCING, normals=1.5 * n)}


def _hdp(share: float) -> Seconds:
    from supervised_ibp_speed import word_counts

    from plaidwork.core.api import Block, ModelData
    from plaidwork.plugins.dirichlet_processes.topics.model import HdpTopics

    n = int(2000 * share)
    x = word_counts(n, 2000, int(200_000 * share), np.random.default_rng(0))
    x.sum_duplicates()
    names = tuple(map(str, range(n))), tuple(map(str, range(2000)))
    data = ModelData({"X": Block("X", x, np.ones((1, 1), bool), None, names)})
    model = HdpTopics()
    params = model.spec.check_params({"start_topics": 50, "quick_sweeps": 0, "moves": 0, "left_out": 0.0})
    return timed(model, data, params, 8)


def _work_on_hdp(share: float) -> dict[str, Work]:
    """A weight for each of some 50 topics and a uniform number a token; counts of its word in and out."""
    tokens = 200_000 * share
    return {"topics": Work(flops=4 * 50 * tokens, far=8 * tokens, near=4 * 50 * tokens, uniforms=tokens)}


def _mixture(share: float) -> Seconds:
    from dp_mixture import sweep_data

    from plaidwork.plugins.dirichlet_processes.model import DirichletProcessMixture

    model = DirichletProcessMixture()
    return timed(
        model, sweep_data(int(2000 * share), 30, 30), model.spec.check_params({"start": "means"}), 30
    )


def _work_on_mixture(share: float) -> dict[str, Work]:
    """The density of a row in each of some 30 clusters (three operations and a logarithm a column), and a place among them."""
    n, d, k = 2000 * share, 30, 30
    return {"labels": Work(flops=3 * n * d * k, far=8 * n * d, exps=n * k, logs=n * d * k, uniforms=n)}


CASES = (
    _group_factors("float64"),
    _group_factors("float32"),
    Case("supervised IBP", _topics_of_outcomes, _work_on_topics),
    _rank_factors({}, "thresholds", _levels),
    _rank_factors({"scheme": "pairs"}, "pairs", _pairs),
    _rank_factors({"likelihood": "gaussian"}, "values", _values),
    Case("plaid", _plaid, _work_on_plaid),
    Case("Gaussian process, two classes", _process, _work_on_process),
    Case("Gaussian process, sites", _sites, _work_on_sites),
    Case("topics (HDP)", _hdp, _work_on_hdp),
    Case("Dirichlet process mixture", _mixture, _work_on_mixture),
)
