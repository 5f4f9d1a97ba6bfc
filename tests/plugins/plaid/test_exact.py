"""The kept chain against full enumeration on a 3 x 3 matrix with one missing cell."""

import numpy as np
import plaid_tools as tools
import pytest

from plaidwork.plugins.plaid.models import BayesianPlaid, InfinitePlaid

SWEEPS = 12_000
TEMPERED = {"replicas": 3, "warmest": 0.2}
VARIANTS = {
    "default": {},
    "tempered": TEMPERED,
    "row by row": {"moves": "row_wise"},
    "seeded alone": {"birth_death": 0, "split_merge": 0},
    "birth and death alone": {"seeded": 0, "split_merge": 0},
    "with splits and exchanges": {"split_merge": 2, "exchanges": 3},
}
PROFILES = {
    "profiles": {},
    "profiles with exchanges": {"exchanges": 3},
    "profiles tempered": TEMPERED,
}


@pytest.fixture(scope="module")
def infinite():
    params = InfinitePlaid.spec.check_params(tools.TINY_INFINITE)
    return tools.exact_infinite(params)


def test_prior_alone_matches_the_published_number():
    params = InfinitePlaid.spec.check_params(tools.TINY_INFINITE)
    assert tools.exact_infinite(params, likelihood=False)[0] == pytest.approx(0.944, abs=5e-4)


@pytest.mark.slow
def test_default_sampler_in_a_shorter_run(infinite):
    samples = tools.sampled(InfinitePlaid(), tools.TINY_INFINITE, 11, 4000)
    assert np.abs(tools.z_scores(samples, infinite)).max() < tools.LIMIT


@pytest.mark.slow
@pytest.mark.parametrize("name", VARIANTS)
def test_enumeration(name, infinite):
    sweeps = SWEEPS * (3 if name == "row by row" else 1)
    samples = tools.sampled(InfinitePlaid(), {**tools.TINY_INFINITE, **VARIANTS[name]}, 5, sweeps)
    assert np.abs(tools.z_scores(samples, infinite)).max() < tools.LIMIT


@pytest.mark.slow
def test_likelihood_off():
    settings = {**tools.TINY_INFINITE, "noise_sd_value": 1e7}
    samples = tools.sampled(InfinitePlaid(), settings, 3, SWEEPS)
    exact = tools.exact_infinite(InfinitePlaid.spec.check_params(settings), likelihood=False)
    assert np.abs(tools.z_scores(samples, exact)).max() < tools.LIMIT


@pytest.mark.slow
@pytest.mark.parametrize("name", PROFILES)
def test_profiles(name):
    settings = {**tools.TINY_INFINITE, **tools.PROFILE, **PROFILES[name]}
    exact = tools.exact_infinite(InfinitePlaid.spec.check_params(settings))
    samples = tools.sampled(InfinitePlaid(), settings, 5, SWEEPS)
    assert np.abs(tools.z_scores(samples, exact)).max() < tools.LIMIT


@pytest.mark.long
def test_profiles_quick():
    settings = {**tools.TINY_INFINITE, **tools.PROFILE}
    samples = tools.sampled(InfinitePlaid(), settings, 11, 3000)
    exact = tools.exact_infinite(InfinitePlaid.spec.check_params(settings))
    assert np.abs(tools.z_scores(samples, exact)).max() < tools.LIMIT


@pytest.mark.slow
@pytest.mark.parametrize(
    "more",
    [{}, TEMPERED, {"exchanges": 0}, {**tools.PROFILE, "exchanges": 2}],
    ids=["plain", "tempered", "without exchanges", "profiles"],
)
def test_fixed_number_of_blocks(more):
    settings = {**tools.TINY_FIXED, **more}
    exact = tools.exact_fixed(BayesianPlaid.spec.check_params(settings))
    samples = tools.sampled(BayesianPlaid(), settings, 7, 2 * SWEEPS)
    assert np.abs(tools.z_scores(samples, exact)).max() < tools.LIMIT


@pytest.mark.slow
@pytest.mark.parametrize(
    "more", [{"split_merge": 1}, TEMPERED, {"moves": "row_wise"}], ids=["plain", "tempered", "row by row"]
)
def test_heavy_tails(more):
    settings = {**tools.TINY_INFINITE, **tools.TAILS, "max_blocks": 2, **more}
    exact = tools.exact_infinite(InfinitePlaid.spec.check_params(settings))
    samples = tools.sampled(InfinitePlaid(), settings, 5, SWEEPS * (3 if "moves" in more else 1))
    assert np.abs(tools.z_scores(samples, exact)).max() < tools.LIMIT


@pytest.mark.slow
@pytest.mark.parametrize("more", [{}, TEMPERED], ids=["plain", "tempered"])
def test_heavy_tails_of_a_fixed_number_of_blocks(more):
    settings = {**tools.TINY_FIXED, **tools.TAILS, **more}
    exact = tools.exact_fixed(BayesianPlaid.spec.check_params(settings))
    samples = tools.sampled(BayesianPlaid(), settings, 7, 2 * SWEEPS)
    assert np.abs(tools.z_scores(samples, exact)).max() < tools.LIMIT
