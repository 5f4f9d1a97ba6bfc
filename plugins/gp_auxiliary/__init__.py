"""Gaussian process classification and ordinal regression by auxiliary variables (see NOTES.md)."""

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
    ]
