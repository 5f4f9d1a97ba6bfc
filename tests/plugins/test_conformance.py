"""Every built-in model passes the conformance suite that guests have to pass: the short checks here, all in full slowly."""

import pytest
from sparing import unless_passed

from plaidwork.core.checks import checks_for
from plaidwork.core.plugins.registry import Registry, registry

BUILT_IN = [info for info in Registry(safe_mode=True).load().plugins if info.source == "built-in"]
MODELS = [model for info in BUILT_IN for model in info.models]
LONG = [
    "mid_sweep",
    "state_fits",
    "setting_bounds",
    "degenerate_data",
    "calibration",
    "geweke",
    "releases_interpreter",
]
"""Most of the time. They repeat whole fits for each step, setting or data set, or fit large data, and run among the
slow tests."""
ALWAYS = ("declaration_complete", "traces", "draws", "results", "same_seed")
"""The others wait for a change of the model or of the core, when they have passed on this machine."""


SPARED = {
    "data_untouched": ("rank_factor_vb",),
    "estimates": ("gp_classes", "gp_quick_classes"),
    "global_random": ("rank_factor_vb", "supervised_ibp"),
    "nothing_left": ("gp_classes", "rank_factor_vb"),
    "partial_results": ("rank_factor_vb",),
    "stops": (
        "dp_mixture",
        "gp_classes",
        "gp_ordered_classes",
        "gp_quick_classes",
        "gp_raters",
        "gp_semi_classes",
        "hdp_topics",
        "rank_factor_vb",
    ),
    "state_round_trip": (
        "bayesian_plaid",
        "dp_mixture",
        "gp_semi_classes",
        "group_factor",
        "hdp_topics",
        "rank_factor_vb",
        "supervised_ibp",
    ),
}
"""Checks that take half a second or more of these models; others of their families pass them quickly."""


def _checks(**words):
    return [
        pytest.param(
            model,
            check,
            id=f"{model}-{check}",
            marks=pytest.mark.slow if model in SPARED.get(check.id, ()) else (),
        )
        for model in MODELS
        for check in checks_for(model, **words)
    ]


@pytest.mark.parametrize(("model", "check"), _checks(skip=LONG))
def test_conforms(model, check):
    if check.id in ALWAYS:
        check()
    else:
        unless_passed(type(registry().model(model)), f"{model} {check.id}", check)


@pytest.mark.slow
@pytest.mark.parametrize(("model", "check"), _checks(level="full"))
def test_conforms_in_full(model, check):
    check()
