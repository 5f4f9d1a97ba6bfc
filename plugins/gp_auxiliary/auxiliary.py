"""The auxiliary variable of single samples: where the labels and the null category leave it."""

from __future__ import annotations

import numpy as np

from plaidwork.core.api import Kept, Result, Results
from plaidwork.plugins.gp_auxiliary.frame import Frame

_PLACES = 81
_MOST_SAMPLES = 200


def auxiliary_results(kept: Kept, frame: Frame, names: tuple[str, ...], null: float) -> Results:
    """Density of z of some samples over the draws: two classes z itself, more the lead of the winner over the next.

    It is the picture by which the auxiliary variable trick is explained: the noise around f, cut where the label says,
    and empty in the null category.
    """
    used = np.flatnonzero(frame.used)
    order = np.argsort(frame.codes[used] < 0, kind="stable")  # labelled ones first
    if len(order) > _MOST_SAMPLES:
        order = order[np.linspace(0, len(order) - 1, _MOST_SAMPLES).round().astype(np.intp)]
    z = np.concatenate([chain.stack("z")[:, :, order] for chain in kept.chains if chain.n_draws])
    if z.shape[1] == 1:
        values, what = z[:, 0], f"z, above 0 for “{frame.classes[1]}”"
    else:
        ordered = np.sort(z, axis=1)
        values, what = ordered[:, -1] - ordered[:, -2], "lead of z of the winner"
    reach = float(np.quantile(np.abs(values), 0.99)) * 1.1 + null + 0.5
    edges = np.linspace(-reach if z.shape[1] == 1 else 0.0, reach, _PLACES + 1)
    counts = np.stack([np.histogram(column, edges)[0] for column in values.T])
    density = counts / (
        len(values) * (edges[1] - edges[0])
    )  # what lies beyond is of the whole, and not drawn
    labels = [frame.classes[code] if code >= 0 else "no label" for code in frame.codes[used[order]]]
    own = [names[i] if names else str(i + 1) for i in used[order]]
    note = "Draws of z, which is f plus noise of sd 1, by sample."
    if len(order) < len(used):
        note += f" {len(order)} of {len(used)} samples, evenly among them."
    if null > 0:
        note += f" Nothing lies within {null:g} of {'0' if z.shape[1] == 1 else 'a tie'}: the null category."
    ends = [-null if z.shape[1] == 1 else 0.0, null]
    stretches = np.array([ends] if null > 0 else []).reshape(-1, 2)
    return {
        "auxiliary": Result(density, ("auxiliary_name", "auxiliary_place"), label="density"),
        "auxiliary_x": Result((edges[1:] + edges[:-1]) / 2, ("auxiliary_place",), label=what),
        "auxiliary_name": Result(np.array([f"{a}, {b}" for a, b in zip(own, labels)]), ("auxiliary_name",)),
        "auxiliary_null": Result(stretches, ("stretch", "bound"), label="null category"),
        "auxiliary_note": note,
    }
