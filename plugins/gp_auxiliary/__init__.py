"""Gaussian processes: classification, few labels, ordered classes, raters, components, regression (see NOTES.md)."""

from __future__ import annotations

from typing import Any

from plaidwork.core.api import hookimpl


@hookimpl
def plaidwork_models() -> list[str]:
    path = "plaidwork.plugins.gp_auxiliary"
    return [
        f"{path}.classes.classify:Classes",
        f"{path}.few_labels.model:SemiClasses",
        f"{path}.classes.ordinal:OrderedClasses",
        f"{path}.raters.model:Rated",
        f"{path}.components.model:BinaryComponents",
        f"{path}.classes.variational:QuickClasses",
        f"{path}.regression.model:Regression",
        f"{path}.regression.quick:QuickRegression",
    ]


@hookimpl
def plaidwork_views() -> list[Any]:
    from plaidwork.plugins.gp_auxiliary.regression.factories import FACTORIES

    return list(FACTORIES)
