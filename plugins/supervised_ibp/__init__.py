"""Supervised Indian buffet process: topics of texts that explain an outcome, and their effects (see NOTES.md)."""

from plaidwork.core.api import hookimpl


@hookimpl
def plaidwork_models() -> list[str]:
    return ["plaidwork.plugins.supervised_ibp.model:SupervisedIbp"]


@hookimpl
def plaidwork_analyses() -> list[str]:
    return ["plaidwork.plugins.supervised_ibp.analyses:Effects"]
