"""Pictures of the model's own: who is together with whom, and what the clusters look like."""

from __future__ import annotations

from plaidwork.core.api import ResultStore
from plaidwork.core.api_pictures import Picture, PictureFactory, ViewChoices
from plaidwork.plugins.dirichlet_processes.drawing import Grouping, Profiled, draw_groups, draw_profiles
from plaidwork.plugins.dirichlet_processes.multi_view.pictures import MULTI_VIEW


def load_groups(results: ResultStore, choices: ViewChoices) -> Picture:
    """Samples by samples, in the order of the groups: the share of draws in which two are together."""
    found = Grouping(
        results.array("similarity"), results.array("shown_place").astype(int), results.array("shown_sample"),
        results.array("labels").astype(int), results.array("certainty"), results.array("cluster"),
    )  # fmt: skip
    return draw_groups(found, str(results["headline"]), str(results["similarity_caption"]), "cluster")


def load_profiles(results: ResultStore, choices: ViewChoices) -> Picture:
    """Clusters by columns: means in the unit of the data, coloured by how far they are from all samples."""
    found = Profiled(
        results.array("profile"), results.array("profile_interval"), results.array("stands_out"), results.array("column_names"),
        results.array("cluster"),
    )  # fmt: skip
    words = str(results["profile_headline"]), str(results["profile_caption"])
    return draw_profiles(found, *words, choices, "cluster")


FACTORIES = (
    PictureFactory("dp_mixture.groups", "Groups", load_groups),
    PictureFactory("dp_mixture.profiles", "Profiles", load_profiles),
    *MULTI_VIEW,
)
