"""Held-out topics and effects: against sums over all states, and regressions written out by hand."""

import numpy as np
import pytest
import supervised_ibp_tools as tools
from scipy.sparse import csr_matrix

from plaidwork.core.analysing import run_analysis
from plaidwork.core.api import Schedule
from plaidwork.core.data.dataset import Dataset
from plaidwork.core.errors import ModelError
from plaidwork.core.findings.unlocking import LockedError
from plaidwork.core.inference.execution import execute
from plaidwork.core.inference.plan import make_plan
from plaidwork.core.plugins.registry import registry
from plaidwork.core.session.fitting import fit
from plaidwork.plugins.supervised_ibp.analyses import ADJUSTED
from plaidwork.plugins.supervised_ibp.effects import bootstrap, covariance, p_values, regress
from plaidwork.plugins.supervised_ibp.exclusivity import exclusivity
from plaidwork.plugins.supervised_ibp.heldout import Topics, infer, scores


def learned(k=4, d=12, n=30, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, d))
    corpus = tools.plain_corpus(x, rng.standard_normal(n))
    topics = Topics(
        0.8 * rng.standard_normal((k, d)), 0.02 * np.eye(k), 2 + 5 * rng.random(k), 5 + 9 * rng.random(k)
    )
    return csr_matrix(x), topics, corpus


def by_all_states(words, topics, corpus, settings):
    base, rows, cross = scores(topics, corpus, settings)
    theta = base + words @ rows
    states = ((np.arange(2 ** len(base))[:, None] >> np.arange(len(base))) & 1).astype(float)
    energy = theta @ states.T - 0.5 * np.einsum("sk,kl,sl->s", states, cross, states)
    top = energy.max(axis=1, keepdims=True)
    weight = np.exp(energy - top)
    return weight @ states / weight.sum(axis=1, keepdims=True), top[:, 0] + np.log(weight.sum(axis=1))


@pytest.mark.parametrize("prior", ["finite", "stick"])
def test_exact_topics_are_the_marginals_of_all_states(prior):
    words, topics, corpus = learned()
    settings = tools.params(n_topics=4, prior=prior)
    nu, evidence = infer(words, topics, corpus, settings)
    expected, log_sum = by_all_states(words, topics, corpus, settings)
    assert nu == pytest.approx(expected, abs=1e-12)
    assert evidence == pytest.approx(log_sum, rel=1e-12)


def test_the_scores_are_those_of_a_sweep():
    """With the outcome's coefficients at 0, a sweep over q(z) has its fixed point at the approximate held-out topics."""
    from plaidwork.plugins.supervised_ibp.moments import pulls_of

    _, topics, corpus = learned()
    settings = tools.params(n_topics=4)
    state = tools.state_of(corpus, np.full((30, 4), 0.5), settings)
    state.update(share_a=topics.share_a, share_b=topics.share_b, cov=topics.cov, phi=topics.phi.T.copy())
    state["outer"] = topics.phi @ topics.phi.T
    state["coef_cov"][...] = 0.0
    base, cross, pull, _ = pulls_of(state, corpus, settings)
    own, _, own_cross = scores(topics, corpus, settings)
    assert base[0] == pytest.approx(own, rel=1e-12)
    assert cross[0] == pytest.approx(own_cross, rel=1e-12)
    assert not pull.any()


def test_approximate_topics_repeat_and_gain_from_starts():
    words, topics, corpus = learned(n=60)
    settings = tools.params(n_topics=4)
    log_sum = by_all_states(words, topics, corpus, settings)[1]
    ends = {}
    for starts in (0, 8):
        nu, bound = infer(words, topics, corpus, settings, method="mean-field", starts=starts, seed=3)
        again, _ = infer(words, topics, corpus, settings, method="mean-field", starts=starts, seed=3)
        assert nu.tobytes() == again.tobytes()
        assert (bound <= log_sum + 1e-9).all()
        ends[starts] = bound
    assert (ends[8] >= ends[0] - 1e-12).all()
    assert ends[8].sum() > ends[0].sum()
    half, _ = infer(words[:30], topics, corpus, settings, method="mean-field", starts=8, seed=3)
    assert half.tobytes() == nu[:30].tobytes()  # whatever documents come after


def design(seed=0, n=90):
    rng = np.random.default_rng(seed)
    topics = rng.random((n, 3)) < (0.5, 0.3, 0.4)
    y = 4 + topics @ np.array([2.0, -1.0, 0.5]) + rng.standard_normal(n) * (1 + topics[:, 0])
    return y, topics, rng


def test_effects_are_least_squares_with_hc2_errors():
    y, topics, _ = design()
    found = regress(y, topics, level=0.9)
    x = np.column_stack([np.ones(90), topics])
    beta = np.linalg.solve(x.T @ x, x.T @ y)
    inverse = np.linalg.inv(x.T @ x)
    middle = np.zeros((4, 4))
    for row, value in zip(x, y, strict=True):
        middle += np.outer(row, row) * (value - row @ beta) ** 2 / (1 - row @ inverse @ row)
    error = np.sqrt(np.diag(inverse @ middle @ inverse))
    assert found.value == pytest.approx(beta, rel=1e-12)
    assert found.error == pytest.approx(error, rel=1e-10)
    assert found.interval[:, 1] - found.value == pytest.approx(1.6448536269514722 * error, rel=1e-10)
    assert found.count[1:].tolist() == topics.sum(axis=0).tolist()
    assert found.count[0] == (~topics.any(axis=1)).sum()


def test_classical_and_clustered_errors_by_hand():
    y, topics, rng = design()
    x = np.column_stack([np.ones(90), topics])
    inverse = np.linalg.inv(x.T @ x)
    rest = y - x @ (inverse @ x.T @ y)
    classical = regress(y, topics, kind="classical").error
    assert classical == pytest.approx(np.sqrt(np.diag(inverse) * (rest @ rest) / 86), rel=1e-10)
    cluster = rng.integers(0, 20, 90)
    middle = np.zeros((4, 4))
    for number in np.unique(cluster):
        score = x[cluster == number].T @ rest[cluster == number]
        middle += np.outer(score, score)
    groups = len(np.unique(cluster))
    middle *= groups / (groups - 1) * 89 / 86
    expected = np.sqrt(np.diag(inverse @ middle @ inverse))
    assert regress(y, topics, kind="cluster", cluster=cluster).error == pytest.approx(expected, rel=1e-10)


def test_the_bootstrap_repeats_and_agrees_with_theory():
    y, topics, _ = design(n=400)
    one, two = (regress(y, topics, kind="bootstrap", resamples=1500, seed=4) for _ in range(2))
    assert one.interval.tobytes() == two.interval.tobytes()
    assert one.error == pytest.approx(regress(y, topics).error, rel=0.1)
    # whole clusters: with every document twice the errors are those of the half
    doubled = regress(
        np.tile(y, 2),
        np.tile(topics, (2, 1)),
        kind="bootstrap",
        resamples=1500,
        cluster=np.tile(np.arange(400), 2),
    )
    assert doubled.error == pytest.approx(one.error, rel=0.1)
    assert bootstrap(np.ones((5, 1)), np.arange(5.0), np.arange(5), 3, 1).shape == (3, 1)


def test_what_cannot_be_estimated_is_named():
    y, topics, _ = design()
    few = np.zeros(90, bool)
    few[:4] = True
    wide = np.column_stack([np.zeros(90, bool), topics, few, topics[:, 0], ~few, np.ones(90, bool)])
    found = regress(y, wide)
    plain = regress(y, topics)
    assert found.note[1] == "in no document"
    assert found.note[5] == "in fewer than 5 documents"
    assert sorted([found.note[2], found.note[6]]) == ["", "a combination of other topics"]
    assert found.note[7] == found.note[8] == "lacking in fewer than 5 documents"
    at = [0, 2 if found.note[2] == "" else 6, 3, 4]
    assert found.value[at[1:]] == pytest.approx(plain.value[1:], rel=1e-9)  # beside the right names
    assert np.isnan(found.value[0])  # one topic is in all documents: none is without
    assert found.note[0] == "no document without a topic"
    assert regress(y, wide[:, :-2]).value[0] == pytest.approx(plain.value[0], rel=1e-9)
    assert found.error[at[1:]] == pytest.approx(plain.error[1:], rel=1e-9)
    assert np.isnan(found.value[[1, 5, 7, 8]]).all()


def test_groups_have_effects_of_their_own_under_the_right_names():
    rng = np.random.default_rng(1)
    topics, group = rng.random((600, 3)) < 0.4, rng.integers(0, 2, 600)
    true = np.array([[10.0, 20, 30], [-10, -20, -30]])
    y = np.array([1.0, 5.0])[group] + (topics * true[group]).sum(axis=1) + 0.1 * rng.standard_normal(600)
    found = regress(y, topics, group=group, n_groups=2)
    assert found.value == pytest.approx([1, 5, 10, 20, 30, -10, -20, -30], abs=0.1)
    alone = regress(y[group == 0], topics[group == 0])
    assert found.value[[0, 2, 3, 4]] == pytest.approx(alone.value, rel=1e-9)
    assert found.error[[0, 2, 3, 4]] == pytest.approx(alone.error, rel=1e-9)


def test_covariates_are_taken_into_account():
    rng = np.random.default_rng(1)
    topics, cover = rng.random((300, 2)) < 0.5, rng.standard_normal((300, 2))
    y = 1 + topics @ np.array([1.0, 2.0]) + 8 * cover[:, 0] + 0.1 * rng.standard_normal(300)
    found = regress(y, topics, covariates=np.column_stack([cover, cover[:, 0]]))  # one of them twice
    assert found.value[1:] == pytest.approx([1.0, 2.0], abs=0.05)
    assert len(found.value) == 3


def test_p_values_are_adjusted():
    p = np.array([0.01, np.nan, 0.04, 0.03, 0.005])
    assert ADJUSTED["holm"](p) == pytest.approx([0.03, np.nan, 0.06, 0.06, 0.02], nan_ok=True)
    assert ADJUSTED["bh"](p) == pytest.approx([0.02, np.nan, 0.04, 0.04, 0.02], nan_ok=True)
    assert ADJUSTED["none"](p) == pytest.approx(p, nan_ok=True)
    assert p_values(np.array([1.959963984540054]), np.array([1.0])) == pytest.approx(0.05)
    assert covariance(np.ones((4, 1)), np.zeros(4), "hc2") == pytest.approx(np.zeros((1, 1)))


def test_exclusivity_is_the_double_loop():
    rng = np.random.default_rng(0)
    x = rng.poisson(1.0, (80, 25)).astype(float)
    data = tools.model_data(x, rng.standard_normal(80))
    corpus = tools.corpus(data, test_share=0.0)
    nu, phi = rng.random((80, 5)), rng.standard_normal((5, 25))
    nu[:, 3] = 0.1  # empty
    nu[:, 4] = 0.9  # in all documents
    nu[:, 2] = 0.1
    nu[7, 2] = 0.9  # in one
    scaled = tools.dense(corpus)
    expected = np.zeros(5)
    for k in range(5):
        best = np.argsort(-phi[k])[:6]
        inside = nu[:, k] > 0.5
        if not inside.any():
            continue
        terms = []
        for a in range(6):
            for b in range(a):
                one, two = scaled[:, best[a]], scaled[:, best[b]]
                term = 0.0
                for sign, part in ((1, inside), (-1, ~inside)):
                    if part.sum() >= 2:
                        term += sign * part.sum() * np.cov(one[part], two[part])[0, 1]
                terms.append(term)
        expected[k] = np.mean(terms)
    assert exclusivity(corpus, nu, phi, 6) == pytest.approx(expected, rel=1e-10)


@pytest.fixture(scope="module")
def fitted():
    x, y, _, _ = tools.simulated(0, n=600, d=30)
    names = tuple(f"doc{i}" for i in range(600))
    given = {"X": Dataset("X", x, names, tuple(f"w{i}" for i in range(30))), "y": Dataset("y", y, names)}
    settings = tools.PACKAGE | {"n_topics": 4, "scale": "none", "noise": 0.5, "show": "bound"}
    return fit("supervised_ibp", given, settings, chains=4), given


def test_the_analysis_is_the_regression_of_the_test_half(fitted):
    run, given = fitted
    found = run_analysis(run, "supervised_ibp.effects", unlock=True, datasets=given).results
    hard = found["test_assignments"].values >= 0.5
    names = found["test_document"].values
    y = dict(zip(given["y"].row_names, given["y"].values, strict=True))
    half = dict(zip(given["X"].row_names, run.results["half"].values, strict=True))
    assert {half[name] for name in names} == {"test"}
    assert found["test_outcome"].values.tolist() == [y[name] for name in names]
    assert found["topic_weights"].values.shape == (4, len(found["kept_word"].values))
    plain = regress(np.array([y[name] for name in names]), hard)
    assert found["effects"].values == pytest.approx(plain.value[1:], rel=1e-12)
    assert found["baseline"].values == pytest.approx([3.0], abs=0.5)  # in units of the outcome
    assert sorted(found["effects"].values) == pytest.approx([-0.75, -0.5, 0.5, 1.0], abs=0.4)
    other = run_analysis(
        run,
        "supervised_ibp.effects",
        unlock=True,
        params={"restart": 2, "errors": "bootstrap"},
        datasets=given,
    )
    assert "restart 2" in other.results["caption"]
    assert "bootstrap" in other.results["caption"]


def test_the_test_half_is_opened_on_purpose_and_once():
    x, y, _, _ = tools.simulated(1, n=80, d=10)
    names = tuple(map(str, range(80)))
    given = {"X": Dataset("X", x, names, tuple("abcdefghij")), "y": Dataset("y", y, names)}
    run = fit(
        "supervised_ibp", given, tools.PACKAGE | {"n_topics": 2, "intercept": True}, chains=1, max_sweeps=20
    )
    with pytest.raises(LockedError, match="opens the test half"):
        run_analysis(run, "supervised_ibp.effects")
    assert not run_analysis(run, "supervised_ibp.effects", unlock=True).exploratory
    later = run.session.add_run(
        make_plan(
            registry().model("supervised_ibp"),
            given,
            {"n_topics": 3, "moves": 0},
            schedule=Schedule(chains=1, max_sweeps=20),
        )
    )
    execute(later, run.session.plan_of(later, registry()))
    assert run_analysis(later, "supervised_ibp.effects").exploratory


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"restart": 9}, "no restart 9"),
        ({"errors": "cluster"}, "no clusters"),
        ({"use_covariates": True}, "no covariates"),
    ],
)
def test_wrong_wishes_are_told(fitted, params, words):
    run, given = fitted
    with pytest.raises(ModelError, match=words):
        run_analysis(run, "supervised_ibp.effects", unlock=True, params=params, datasets=given)


def test_groups_clusters_and_covariates_reach_the_analysis():
    x, y, _, _ = tools.simulated(1, n=400, d=20)
    rng = np.random.default_rng(0)
    names = tuple(f"d{i}" for i in range(400))
    cluster = rng.integers(0, 120, 400)
    given = {
        "X": Dataset("X", x, names, tuple(f"w{i}" for i in range(20))),
        "y": Dataset("y", y, names),
        "group": Dataset("g", rng.integers(0, 2, 400), names, kind="categorical", categories=("a", "b")),
        "cluster": Dataset(
            "c", cluster, names, kind="categorical", categories=tuple(f"c{i}" for i in range(120))
        ),
        "covariates": Dataset("v", rng.standard_normal((400, 2)), names, ("v1", "v2")),
    }
    run = fit(
        "supervised_ibp", given, tools.PACKAGE | {"n_topics": 3, "intercept": True}, chains=2, max_sweeps=200
    )
    sets = {dataset.name: dataset for dataset in given.values()}
    record = run_analysis(
        run, "supervised_ibp.effects", unlock=True, params={"use_covariates": True}, datasets=sets
    )
    assert "by cluster" in record.results["caption"]
    assert record.results["effect"].values.tolist() == [f"Topic {k} ({g})" for g in "ab" for k in (1, 2, 3)]
    names_of = run.results["training_weights"].columns["Training coefficient"].tolist()
    assert names_of[:4] == [
        "Intercept (training)",
        "v1 (training)",
        "v2 (training)",
        "Topic 1 (a) (training)",
    ]


def test_without_a_test_half_there_are_no_effects():
    x, y, _, _ = tools.simulated(1, n=60, d=10)
    given = {
        "X": Dataset("X", x, tuple(map(str, range(60))), tuple("abcdefghij")),
        "y": Dataset("y", y, tuple(map(str, range(60)))),
    }
    run = fit("supervised_ibp", given, {"n_topics": 2, "test_share": 0.0}, chains=1, max_sweeps=5)
    with pytest.raises(ModelError, match="no test documents"):
        run_analysis(run, "supervised_ibp.effects", unlock=True, datasets=given)
