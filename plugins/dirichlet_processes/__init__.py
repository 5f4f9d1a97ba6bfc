"""Clusters of samples and topics of documents, their number inferred: priors of the Dirichlet process kind (see NOTES.md)."""

from plaidwork.core.api import hookimpl
from plaidwork.core.api_pictures import PictureFactory


@hookimpl
def plaidwork_models() -> list[str]:
    return [
        "plaidwork.plugins.dirichlet_processes.model:DirichletProcessMixture",
        "plaidwork.plugins.dirichlet_processes.topics.model:HdpTopics",
        "plaidwork.plugins.dirichlet_processes.multi_view.model:MultiViewClusters",
    ]


@hookimpl
def plaidwork_views() -> list[PictureFactory]:
    from plaidwork.plugins.dirichlet_processes.pictures import FACTORIES

    return list(FACTORIES)
