"""What all chains say together: shared blocks, the agreement of two halves, held-out cells, doubts."""

import math

import numpy as np
import plaid_tools as tools
import pytest
from plaid_tools import kept_of, made_draw

from plaidwork.core.api import ModelData
from plaidwork.plugins.plaid.models import BayesianPlaid, InfinitePlaid
from plaidwork.plugins.plaid.pooling import Draw, cosines, count_shared, held_out_score, together

ROWS = np.array([[1, 1, 1, 0, 0, 0], [0, 0, 1, 1, 0, 0]], bool)
EVERY = np.arange(6)


def test_shared_blocks_by_hand():
    counts = count_shared([ROWS, ROWS[:1]], 6)
    assert counts[0].tolist() == [2, 2, 2, 0, 0, 0]
    assert counts[2].tolist() == [2, 2, 3, 1, 0, 0]
    shared = cosines(counts)
    assert shared[0, 2] == pytest.approx(2 / math.sqrt(6))
    assert shared[2, 3] == pytest.approx(1 / math.sqrt(3))
    assert shared[5].tolist() == [0.0] * 6


def test_pooled_chains_are_one_long_chain_and_halves_are_compared():
    rng = np.random.default_rng(0)
    chains = [[rng.random((3, 6)) < 0.4 for _ in range(5)] for _ in range(4)]
    found = together(chains, EVERY)
    whole = cosines(count_shared([z for chain in chains for z in chain], 6))
    np.testing.assert_allclose(found.shared, whole)
    pairs = np.triu_indices(6, 1)
    halves = [cosines(count_shared([z for chain in chains[h::2] for z in chain], 6))[pairs] for h in (0, 1)]
    assert found.agreement == pytest.approx(np.corrcoef(*halves)[0, 1])


@pytest.mark.parametrize(("chains", "agreement"), [([[ROWS]], math.nan), ([[ROWS], [ROWS]], 1.0)])
def test_agreement_of_one_chain_and_of_equal_ones(chains, agreement):
    assert together(chains, EVERY).agreement == pytest.approx(agreement, nan_ok=True)


def test_held_out_score_is_that_of_the_average_density():
    held = np.zeros((6, 5), bool)
    held[1, 2] = held[4, 4] = True
    block = tools.block(np.arange(30.0).reshape(6, 5) / 10, held_out=held)
    one = Draw(ROWS, np.ones((2, 5), bool), np.array([1.0, -2.0]), 0.5, 4.0)
    other = Draw(ROWS[:0], np.ones((0, 5), bool), np.zeros(0), 0.0, 1.0)

    def density(x, mean, tau0):
        return math.sqrt(tau0 / (2 * math.pi)) * math.exp(-0.5 * tau0 * (x - mean) ** 2)

    first = 0.5 * (density(0.7, 1.5, 4.0) + density(0.7, 0.0, 1.0))
    second = 0.5 * (density(2.4, 0.5, 4.0) + density(2.4, 0.0, 1.0))
    score = held_out_score([[one, one], [other]], block)
    assert score.mean == pytest.approx((math.log(first) + math.log(second)) / 2)
    assert score.error == pytest.approx(abs(math.log(first) - math.log(second)) / 2)
    assert held_out_score([[one]], tools.block(np.zeros((6, 5)))) is None


def test_chains_that_differ_are_pooled_and_it_is_said():
    model, data = BayesianPlaid(), ModelData({"X": tools.block(np.random.default_rng(1).normal(size=(6, 5)))})
    columns = np.ones((2, 5), bool)
    good = [made_draw(ROWS, columns, log_joint=-100.0) for _ in range(20)]
    bad = [made_draw(ROWS[:, ::-1], columns, log_joint=-900.0) for _ in range(20)]
    results = model.summarise(kept_of(model, [good, bad]), data, model.spec.check_params({}))
    shared = dict(
        zip(results["row_by_block"].values.tolist(), results["row_comembership"].values, strict=True)
    )
    order = results["row_by_block"].values.tolist()
    assert shared["r0"][order.index("r1")] == pytest.approx(1.0)
    assert shared["r4"][order.index("r5")] == pytest.approx(1.0)  # only the chain far below has it
    assert results["rows_headline"].startswith(
        "Which rows share blocks: hardly alike in two halves of the chains, correlation "
    )
    assert "read it as far as two halves of them correlate" in results["shared_caption"]


@pytest.mark.parametrize(
    ("alike", "headline"), [(True, "2 blocks cover"), (False, "most draws share none of them")]
)
def test_draws_that_share_few_blocks_do_not_lead_with_a_list_of_them(alike, headline):
    model, data = BayesianPlaid(), ModelData({"X": tools.block(np.random.default_rng(1).normal(size=(6, 5)))})
    rng, chains = np.random.default_rng(2), []
    for _chain in range(2):
        rows = [ROWS if alike else ROWS[:, rng.permutation(6)] for _ in range(20)]
        columns = [
            np.eye(5, dtype=bool)[:2] if alike else np.eye(5, dtype=bool)[rng.permutation(5)[:2]]
            for _ in range(20)
        ]
        chains.append([made_draw(z1, z2, log_joint=-100.0) for z1, z2 in zip(rows, columns, strict=True)])
    results = model.summarise(kept_of(model, chains), data, model.spec.check_params({}))
    assert headline in results["headline"]
    assert ("opens_on" in results) != alike
    assert ("read it as far as two halves" in results["shared_caption"]) != alike
    assert alike or results["opens_on"] in {f"{view.group}/{view.title}" for view in model.spec.views}


def test_a_number_of_blocks_at_its_limit_is_doubted():
    model, data = InfinitePlaid(), ModelData({"X": tools.block(np.random.default_rng(1).normal(size=(6, 5)))})
    kept = kept_of(model, [[made_draw(ROWS, np.ones((2, 5), bool)) for _ in range(20)]])
    for most, word in ((2, "reached its limit"), (3, "")):
        results = model.summarise(kept, data, model.spec.check_params({"max_blocks": most}))
        assert word in results.get("doubt", "")
        assert ("doubt" in results) == bool(word)


@pytest.mark.parametrize(
    ("top", "hint"), [(1.0, "zeros and ones"), (7.0, "take 0/1 there"), (0.5, "Take 0/1 first")]
)
def test_mostly_one_value_is_warned_of_before_and_after(top, hint):
    x = np.zeros((6, 5))
    x[0, 0], x[1, 1] = 1.0, top
    model, data = InfinitePlaid(), ModelData({"X": tools.block(x)})
    params = model.spec.check_params({})
    (found,) = [p for p in model.validate(data, params) if "Gaussian noise" in p.message]
    assert found.severity == "warning"
    assert hint in found.hint
    results = model.summarise(kept_of(model, [[made_draw(ROWS, np.ones((2, 5), bool))] * 4]), data, params)
    assert "Most cells have one value" in results["doubt"]
