"""Work on the factors of any model: their association with sample covariates and survival, gene sets in their weights."""

from plaidwork.core.api import hookimpl


@hookimpl
def plaidwork_analyses() -> list[str]:
    path = "plaidwork.plugins.factor_tools"
    return [
        f"{path}.covariates:FactorsAndCovariates",
        f"{path}.survival:FactorsAndSurvival",
        f"{path}.enrichment:GeneSetEnrichment",
    ]
