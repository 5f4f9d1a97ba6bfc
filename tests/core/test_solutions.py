"""Chains that do not agree: which found the same, how much each solution counts, and what is said of it."""

import json
from dataclasses import replace

import numpy as np
import pytest
import toys
from scipy import stats

from plaidwork.core import providers
from plaidwork.core.api import AnalysisData, Result, Trace, Variable
from plaidwork.core.cli.looking import describe_run
from plaidwork.core.data.dataset import Dataset
from plaidwork.core.draws.solution_texts import solutions_text, weight_text
from plaidwork.core.draws.solutions import Solution, agreement_of, group_chains
from plaidwork.core.errors import SettingError
from plaidwork.core.findings.new_samples import new_samples
from plaidwork.core.findings.predictive import densities_of
from plaidwork.core.findings.solutions import weigh, weighed_by, weighted
from plaidwork.core.inference.plan import make_plan
from plaidwork.core.session.session import Session

N, M, DRAWS = 60, 6, 200


class Mode(toys.Walk):
    """Cells are N(level, 1); the level that a chain found is given to it."""

    spec = replace(toys.Walk.spec, id="toy.mode", title="Mode")
    likelihood_of = "X"

    def log_likelihood(self, chain, draws, data, params, index, rows, columns):
        level = np.array([float(chain.draw("level", int(draw))) for draw in draws])
        return stats.norm.logpdf(data["X"].values[rows, columns], level[:, None])

    def summarise(self, kept, data, params):
        levels = np.concatenate([chain.stack("level") for chain in kept.chains])
        return {"words": f"level {levels.mean():.1f}"}


def a_run(levels, lp=None, model=Mode, shares=(0.7, 0.3)):
    """A run whose chains stand at levels, on data that are a mixture of N(0, 1) and N(4, 1)."""
    rng = np.random.default_rng(5)
    part = rng.choice(2, (N, M), p=shares)
    values = rng.normal(4.0 * part, 1.0)
    data = Dataset("d", values, tuple(f"r{i}" for i in range(N)), tuple(f"c{j}" for j in range(M)))
    schedule = model.spec.schedule.with_(chains=len(levels), warmup=0, thin=1, draws=DRAWS)
    session, plan = Session(), make_plan(model(), {"X": data}, schedule=schedule)
    session.add_dataset(data)
    run = session.add_run(plan)
    for c, (record, level) in enumerate(zip(run.chains, levels, strict=True)):
        for value in rng.normal(level, 0.05, DRAWS):
            record.trace.append({"lp": rng.normal(0.0 if lp is None else lp[c], 1.0), "level": value})
            record.draws.append(
                {"place": np.zeros(M), "level": value, "up": np.zeros(M), "items": np.zeros(1)}
            )
        record.sweep = DRAWS
    run.status = "done"
    return run, plan


@pytest.fixture
def weighing(monkeypatch):
    """The toy is no plugin: its model and data are handed over."""

    def use(run, plan):
        monkeypatch.setattr(
            providers, "weigh_solutions", lambda of, found: weigh(of, run.session.datasets, plan.model, found)
        )

    return use


def test_chains_that_agree_have_no_solutions():
    run, _ = a_run([0.0, 0.0, 0.0])
    assert run.solutions() == ()
    assert run.diagnosis().verdict.settled
    with pytest.raises(SettingError, match="0 solutions"):
        run.solution(1)


def test_solutions_are_told_with_weights_everywhere(weighing):
    run, plan = a_run([0.0, 4.0, 0.0, 4.0])
    weighing(run, plan)
    first, second = run.solutions()
    assert (first.chains, second.chains) == ((0, 2), (1, 3))
    # the data are .7 of the one and .3 of the other: 3 standard errors of a share of 360
    assert first.weight == pytest.approx(0.7, abs=0.08)
    assert first.weight + second.weight == pytest.approx(1.0)
    verdict = run.diagnosis().verdict
    assert verdict.kind == "error"
    assert (
        verdict.title
        == f"The chains found 2 solutions of weights {weight_text(first.weight)}, {weight_text(second.weight)}"
    )
    assert "chains 1 and 3" in verdict.text
    assert "360 observations" in verdict.text
    assert describe_run(run)["verdict"] == verdict.title
    assert json.dumps(describe_run(run)["solutions"])
    assert describe_run(run)["solutions"][1]["chains"] == [2, 4]


def test_weights_do_not_depend_on_how_many_chains_found_a_solution(weighing):
    few, many = a_run([0.0, 4.0]), a_run([0.0, 0.0, 0.0, 0.0, 4.0])
    found = []
    for run, plan in (few, many):
        weighing(run, plan)
        found.append([one.weight for one in run.solutions()])
    assert found[0] == pytest.approx(found[1], abs=0.02)


def test_without_densities_solutions_have_no_weights(weighing):
    run, plan = a_run([0.0, 4.0], model=toys.Walk)
    weighing(run, plan)
    assert all(np.isnan(one.weight) for one in run.solutions())
    assert run.diagnosis().verdict.title == "The chains found 2 solutions"
    assert "not known" in run.diagnosis().verdict.text


def test_where_the_data_are_gone_it_says_so(weighing):
    run, plan = a_run([0.0, 4.0])
    run.session.datasets.clear()
    weighing(run, plan)
    assert "not here" in run.diagnosis().verdict.text


def test_the_objective_alone_parts_chains():
    run, _ = a_run([0.0, 0.0, 0.0], lp=[0.0, -30.0, 0.0])
    assert [one.chains for one in run.solutions()] == [(0, 2), (1,)]
    assert "30" in run.diagnosis().verdict.text


def test_a_slow_chain_is_no_other_solution():
    """R-hat is bad, but the ranges overlap: the chains are on their way, not in different solutions."""
    run, _ = a_run([0.0, 0.06])
    assert not run.diagnosis().verdict.settled
    assert run.solutions() == ()


def test_while_chains_go_on_nothing_is_weighed():
    run, _ = a_run([0.0, 4.0])
    run.status = "running"
    assert run.solutions() == ()


def test_one_solution_alone(monkeypatch, weighing):
    run, plan = a_run([0.0, 4.0, 4.0])
    weighing(run, plan)

    def summarise(part):
        part.results = plan.model.summarise(part.kept(), plan.data, plan.params)

    monkeypatch.setattr(providers, "summarise_run", summarise)
    chains = run.solutions()[1].chains
    part = run.solution(2)
    assert [record.chain for record in part.chains] == list(chains)
    assert part.results["words"] == f"level {4.0 if 1 in chains else 0.0}"
    assert run.results == {}
    assert part.session is run.session
    assert part.solutions() == ()


def test_draws_by_weight():
    """Averages over the draws weigh solutions, not chains."""
    run, plan = a_run([0.0, 4.0, 4.0, 4.0])
    densities = densities_of(plan.model, plan.data, plan.params, run.kept())
    groups = (Solution((0,), 0.0), Solution((1, 2, 3), 0.0))
    found = weighed_by(densities, groups)
    kept = weighted(run.kept(), found)
    mean = np.concatenate([chain.stack("level") for chain in kept.chains]).mean()
    assert mean == pytest.approx(4.0 * next(one.weight for one in found if len(one.chains) == 3), abs=0.05)
    chain = kept.chains[-1]
    assert np.array_equal(chain.kept_trace("level"), chain.stack("level"))
    assert weighted(run.kept(), groups).n_draws == 4 * DRAWS  # weights that are not known change nothing


# -- factors and blocks -------------------------------------------------------------------------------------------------


def test_agreement_knows_no_order_and_no_sign():
    rng = np.random.default_rng(1)
    one = rng.standard_normal((4, 50))
    assert agreement_of(one, -one[[2, 0, 3, 1]]) == pytest.approx(1.0)
    assert agreement_of(one, rng.standard_normal((4, 50))) < 0.4
    assert agreement_of(one, one[:3]) == pytest.approx(
        np.linalg.norm(one[:3] - one[:3].mean(axis=1, keepdims=True))
        / np.linalg.norm(one - one.mean(axis=1, keepdims=True))
    )
    assert agreement_of(one[:0], one[:0]) == 1.0
    assert agreement_of(one[:0], one) == 0.0


class Factors(toys.Walk):
    """Keeps factors; the objective tells nothing of them."""

    spec = replace(
        toys.Walk.spec,
        id="toy.factors",
        dims={"factor": "factors"},
        variables=(Variable("w", ("factor", "column"), ragged=True), Variable("w_sd", ("factor", "column"), ragged=True)),
        traces=(Trace("lp", primary=True), Trace("noise")),
    )  # fmt: skip


def with_factors(loadings, noise):
    rng = np.random.default_rng(2)
    values = rng.normal(size=(10, 30))
    data = Dataset("d", values, tuple(f"r{i}" for i in range(10)), tuple(f"c{j}" for j in range(30)))
    schedule = Factors.spec.schedule.with_(chains=len(loadings), warmup=0, thin=1)
    run = Session().add_run(make_plan(Factors(), {"X": data}, schedule=schedule))
    for c, (record, base) in enumerate(zip(run.chains, loadings, strict=True)):
        for _ in range(40):
            record.trace.append({"lp": rng.normal(), "noise": rng.normal(0.4 * c)})
            order, sign = rng.permutation(len(base)), rng.choice([-1.0, 1.0], (len(base), 1))
            w = (sign * base + noise * rng.standard_normal(base.shape))[order]
            record.draws.append({"w": w, "w_sd": rng.random(base.shape)})
    run.status = "done"
    return run


@pytest.mark.parametrize("noise", [0.1, 0.8])
def test_factors_part_chains_whatever_their_order(noise):
    """Chains 1 and 3 have the same factors, chain 2 others; one chain's draws switch order and signs, and are noisy."""
    rng = np.random.default_rng(3)
    one, other = rng.standard_normal((2, 3, 30))
    run = with_factors([one, other, one[::-1]], noise)
    kept = run.kept()
    found = group_chains(kept, run.spec, [kept.kept_trace("noise")])
    assert sorted(solution.chains for solution in found) == [(0, 2), (1,)]


def test_solutions_that_stand_at_one_level_are_told_as_such():
    one, other = np.random.default_rng(3).standard_normal((2, 3, 30))
    text = with_factors([one, other, one, other], 0.1).diagnosis().verdict.text
    assert "All stand at the same level" in text
    assert "the best" not in text
    text = a_run([0.0, 4.0], lp=[0.0, 90.0])[0].diagnosis().verdict.text
    assert "same level" not in text
    assert "below the best" in text


@pytest.mark.parametrize(("second", "groups"), [(-100.4, [(0, 1), (2,)]), (-120.0, [(0,), (1,), (2,)])])
def test_restarts_of_one_optimum_are_one_solution(second, groups):
    spec = replace(toys.Climb.spec, id="toy.climb_high")
    session = Session()
    data = Dataset("d", toys.matrix(), tuple(f"r{i}" for i in range(8)), tuple(f"c{i}" for i in range(4)))
    plan = make_plan(toys.Climb(), {"X": data}, schedule=spec.schedule.with_(chains=3))
    run = session.add_run(plan)
    for record, end in zip(run.chains, (-100.0, second, -150.0), strict=True):
        name = spec.primary_trace.name
        record.trace.append({trace.name: end if trace.name == name else 0.0 for trace in spec.traces})
        state = plan.model.init(plan.data, plan.params, record.rng)
        record.draws.append(plan.model.draws(state, plan.data, plan.params))
        record.converged = True
    run.status = "done"
    assert [one.chains for one in run.solutions()] == groups
    verdict = run.diagnosis().verdict
    assert verdict.title.startswith(f"{len(groups[0])} of 3 restarts")
    assert ("The restarts found 3 solutions" in verdict.text) == (len(groups) == 3)


# -- words ----------------------------------------------------------------------------------------------------------------


def test_words_of_weights():
    assert [weight_text(w) for w in (0.62, 0.3, 0.001, 1.0, 0.0)] == [
        "0.62",
        "0.30",
        "<0.01",
        "1.00",
        "<0.01",
    ]
    found = tuple(Solution((i,), 0.0, weight) for i, weight in enumerate((0.5, 0.2, 0.1, 0.1, 0.05, 0.05)))
    assert solutions_text(found[:3]) == "3 solutions of weights 0.50, 0.20, 0.10"
    assert solutions_text(found) == "6 solutions of weights 0.50, 0.20, 0.10, 0.10, 0.05, …"
    assert solutions_text((Solution((0,), 0.0), Solution((1,), 0.0))) == "2 solutions"


def test_by_how_much_a_solution_predicts_less(weighing):
    run, plan = a_run([0.0, 4.0])
    weighing(run, plan)
    first, second = run.solutions()
    assert (first.behind, first.behind_error) == (0.0, 0.0)
    assert second.behind == pytest.approx(first.elpd - second.elpd)
    assert second.behind_error > 0


class Predicting(Mode):
    """Predicts its level."""

    def predict(self, kept, data, new_data, params):
        levels = np.concatenate([chain.stack("level") for chain in kept.chains])
        return {"level": Result(np.full(3, levels.mean()), ("row",)), "caption": "By its level."}


def test_predictions_average_solutions_by_weight(weighing):
    run, plan = a_run([0.0, 4.0, 4.0], model=Predicting)
    weighing(run, plan)
    weight = next(one.weight for one in run.solutions() if 0 not in one.chains)
    blocks = {"X": plan.data["X"], "new_X": plan.data["X"]}
    data = AnalysisData(blocks, {}, run.params, kept=run.kept(), solutions=run.solutions)
    found = new_samples(Predicting)().run({}, data, {}, lambda share: None)
    assert found["level"].values[0] == pytest.approx(4.0 * weight, abs=0.05)
    assert found["caption"].startswith("By its level. Averaged over 2 solutions of weights ")
