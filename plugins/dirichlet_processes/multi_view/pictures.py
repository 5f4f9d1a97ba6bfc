"""Pictures of several views: which clusters of two views share samples, groups and profiles of each."""

from __future__ import annotations

import numpy as np

from plaidwork.core.api import ResultStore, agree, counted, format_count, format_fixed, format_percent
from plaidwork.core.api_pictures import (
    Axis,
    Cells,
    Items,
    Panel,
    Picture,
    PictureFactory,
    Ramp,
    ViewChoices,
)
from plaidwork.plugins.dirichlet_processes.drawing import Grouping, Profiled, draw_groups, draw_profiles
from plaidwork.plugins.dirichlet_processes.multi_view.dependence import pairs_of

FAR = 3.0
"""Log ratio to base 2 at which the colours end: eight times as many samples, or an eighth."""


def chosen_view(results: ResultStore, choices: ViewChoices) -> int:
    """The view that is asked for, from 1."""
    views = [str(name) for name in results.array("view_names")]
    return int(choices.pick("view", "View", [(str(v + 1), name) for v, name in enumerate(views)]))


def load_shared(results: ResultStore, choices: ViewChoices) -> Picture:
    """Clusters of one view by those of another: samples in both, coloured by how many more than if the views were independent."""
    views, labels = [str(name) for name in results.array("view_names")], results.array("labels").astype(int)
    pairs = pairs_of(len(views))
    options = [(f"{v + 1}_{w + 1}", f"{views[v]} and {views[w]}") for v, w in pairs]
    at = choices.pick("pair", "Views", options) if len(pairs) > 1 else options[0][0]
    v, w = (int(part) - 1 for part in at.split("_"))
    counts, ratio, more = (results.array(f"{name}_{at}") for name in ("cells", "log_ratio", "more"))
    expected, interval = results.array(f"expected_{at}"), results.array(f"expected_interval_{at}")
    alone = results.array(f"alone_{at}")
    rows, columns = results.array(f"cluster_{v + 1}"), results.array(f"cluster_{w + 1}")
    texts, reads = [], []
    for a, b in np.ndindex(counts.shape):
        within = f"{format_fixed(float(interval[a, b, 0]), 0)} to {format_fixed(float(interval[a, b, 1]), 0)}"
        texts.append(f"{format_count(int(counts[a, b]))}\n{within}")
        reads.append(
            f"{rows[a]} and {columns[b]}: {counted(int(counts[a, b]), 'sample')}, {format_fixed(float(expected[a, b]), 1)} expected "
            f"({within}), {format_fixed(float(alone[a, b]), 1)} if the views were independent; more with probability "
            f"{format_percent(float(more[a, b]))}"
        )
    both = np.flatnonzero((labels[v] >= 0) & (labels[w] >= 0))
    cells = Cells(
        ratio, -0.5, len(columns) - 0.5, -0.5, len(rows) - 0.5, map="loom", limits=(-FAR, FAR), gap=2.0, name="samples in both clusters",
        labels=tuple(texts), read=tuple(reads), of=Items("row", both, labels[v][both] * len(columns) + labels[w][both]),
    )  # fmt: skip
    sizes = [np.bincount(one[one >= 0], minlength=1) for one in (labels[v], labels[w])]
    across = tuple(f"{name} ({size})" for name, size in zip(columns, sizes[1], strict=True))
    down = tuple(f"{name} ({size})" for name, size in zip(rows, sizes[0], strict=True))
    panel = Panel(
        (cells,), Axis("", scale="category", names=across, above=True, turned=len(across) > 6),
        Axis("", scale="category", names=down, down=True), most=190.0, highest=90.0, reads="inside", zoom="",
    )  # fmt: skip
    clipped = (bool((ratio < -FAR).any()), bool((ratio > FAR).any()))
    table = {"Cluster": np.repeat(rows, len(columns)), "Other cluster": np.tile(columns, len(rows))}
    return Picture(
        str(results["headline"]), str(results["caption"]), (panel,),
        "Samples in both clusters, below them the 90 % interval of what the model expects. "
        f"{counted(len(both), 'sample')} {agree(len(both), 'has', 'have')} both views.",
        (Ramp.between("samples over those of independent views, log to base 2", "loom", (-FAR, FAR), clipped),),
        {**table, "Samples": counts.ravel().astype(int), "Expected": expected.ravel(), "If independent": alone.ravel()},
    )  # fmt: skip


def load_view_groups(results: ResultStore, choices: ViewChoices) -> Picture:
    """Samples by samples of one view, in the order of its groups."""
    at = chosen_view(results, choices)
    found = Grouping(
        results.array(f"similarity_{at}"), results.array(f"shown_place_{at}").astype(int), results.array(f"shown_sample_{at}"),
        results.array("labels").astype(int)[at - 1], results.array("certainty")[at - 1], results.array(f"cluster_{at}"),
    )  # fmt: skip
    caption = f"Probability that two samples are in one cluster of “{results.array('view_names')[at - 1]}”. {results[f'ball_{at}']}"
    return draw_groups(found, str(results["groups_headline"]), caption, "")


def load_view_profiles(results: ResultStore, choices: ViewChoices) -> Picture:
    """Clusters of one view by its columns."""
    at = chosen_view(results, choices)
    found = Profiled(
        results.array(f"profile_{at}"), results.array(f"profile_interval_{at}"), results.array(f"stands_out_{at}"),
        results.array(f"column_names_{at}"), results.array(f"cluster_{at}"),
    )  # fmt: skip
    return draw_profiles(found, str(results["groups_headline"]), str(results["profile_caption"]), choices, "")


MULTI_VIEW = (
    PictureFactory("multi_view_clusters.shared", "Shared clusters", load_shared),
    PictureFactory("multi_view_clusters.groups", "Groups", load_view_groups),
    PictureFactory("multi_view_clusters.profiles", "Profiles", load_view_profiles),
)
