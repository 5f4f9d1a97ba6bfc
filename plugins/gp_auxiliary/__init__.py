"""Gaussian process classification and ordinal regression by auxiliary variables (see NOTES.md)."""

from __future__ import annotations

from typing import Any

from plaidwork.core.api import hookimpl


@hookimpl
def plaidwork_models() -> list[str]:
    path = "plaidwork.plugins.gp_auxiliary"
    return [
        f"{path}.classify:Classes",
        f"{path}.semi:SemiClasses",
        f"{path}.ordinal:OrderedClasses",
        f"{path}.raters:Rated",
        f"{path}.binary_pca:BinaryComponents",
        f"{path}.variational:QuickClasses",
        f"{path}.regression.model:Regression",
        f"{path}.regression.quick:QuickRegression",
    ]


@hookimpl
def plaidwork_views() -> list[Any]:
    from plaidwork.plugins.gp_auxiliary.regression.factories import FACTORIES

    return list(FACTORIES)
