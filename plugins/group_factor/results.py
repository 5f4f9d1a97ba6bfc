"""What is shown of a fit: the best restart, its factors ordered by what they explain."""

from __future__ import annotations

from typing import Any

import numpy as np

from plaidwork.core.api import (
    ChainView,
    Kept,
    ModelData,
    Result,
    Results,
    Table,
    agree,
    counted,
    format_percent,
)
from plaidwork.core.api_factors import correlate_rows
from plaidwork.plugins.group_factor.along import along_results
from plaidwork.plugins.group_factor.density import log_share_of_counts
from plaidwork.plugins.group_factor.deviance import Sums, deviance_of, share_by_group, sums_of
from plaidwork.plugins.group_factor.imputation import best_chain, last_of, linear, on_data_scale
from plaidwork.plugins.group_factor.inputs import NAMES, blocks_of, coordinates_of, group_means, places_of
from plaidwork.plugins.group_factor.restarts import restart_results
from plaidwork.plugins.group_factor.state import Settings
from plaidwork.plugins.group_factor.views import Views, read_views
from plaidwork.plugins.group_factor.weak import explained

Z95 = 1.959964
NOTHING = 0.005
"""Share of every view below which all factors together explain nothing: the last factor stays whatever it explains."""


def oriented(draw: dict[str, np.ndarray], share: np.ndarray) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """The draw with factors by total explained and the largest weight of each positive; and the order."""
    order = np.argsort(-share[:-1].sum(axis=1), kind="stable")
    w = draw["w"][order]
    largest = np.take_along_axis(w, np.abs(w).argmax(axis=1)[:, None], axis=1)
    sign = np.where(largest < 0, -1.0, 1.0)
    out = dict(draw)
    for name in ("z", "z_var", "w", "w_var", "inclusion", "alpha", "theta", "score_precision"):
        out[name] = draw[name][order]
    for name in ("smooth_share", "smooth_length", "score_gain"):
        if name in draw:  # runs from before samples had a time or place do not have them
            out[name] = draw[name][order]
    out["z"], out["w"] = out["z"] * sign, out["w"] * sign
    return out, order


def expected(
    views: Views, draw: dict[str, np.ndarray], logarithms: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """Expected values (D, N) and their standard deviation, on the scale of the data; counts that are fitted as logarithms as such if said."""
    mean, spread = linear(draw, views.group)
    sd = np.empty_like(mean)
    for m, word in enumerate(views.likelihoods):
        here = views.place(m)
        mean[here], sd[here] = on_data_scale(
            "gaussian" if word == "log" and logarithms else word,
            mean[here],
            spread[here],
            views.by_sample(draw["tau"], here),
            views.by_sample(views.mean, here),
            views.unit[here],
        )
    return mean, sd


def weight_table(views: Views, draw: dict[str, np.ndarray], labels: np.ndarray) -> Table:
    """Weights of every view, factor by factor, the largest first; without those that are surely off."""
    columns: dict[str, list[Any]] = {
        title: [] for title in ("Factor", "View", "Feature", "Weight", "SD", "Inclusion")
    }
    features = np.array(views.features, dtype=object)
    sd = np.sqrt(np.maximum(draw["w_var"], 0))
    for k, label in enumerate(labels):
        for m, name in enumerate(views.names):
            here = views.place(m)
            index = np.arange(here.start, here.stop)
            index = index[np.argsort(-np.abs(draw["w"][k, here]), kind="stable")]
            index = index[draw["inclusion"][k, index] >= 0.05]
            columns["Factor"] += [label] * len(index)
            columns["View"] += [name] * len(index)
            columns["Feature"] += features[index].tolist()
            columns["Weight"] += draw["w"][k, index].tolist()
            columns["SD"] += sd[k, index].tolist()
            columns["Inclusion"] += draw["inclusion"][k, index].tolist()
    texts = ("Factor", "View", "Feature")
    return Table(
        {
            title: np.array(column, dtype=str if title in texts else float)
            for title, column in columns.items()
        },
        label="Weights",
        doc="Weights with an inclusion probability of at least 0.05, by factor and view, the largest first.",
    )


def held_out(data: ModelData, views: Views, draw: dict[str, np.ndarray]) -> Table | None:
    """Score of the cells kept from the fit; None when there are none."""
    blocks = blocks_of(data)
    if all(block.held_out is None or not block.held_out.any() for block in blocks):
        return None
    mean, sd = expected(views, draw, logarithms=True)
    rows: dict[str, list[Any]] = {"View": [], "Cells": [], "Log likelihood": [], "Constant": []}
    for m, block in enumerate(blocks):
        here, columns = views.place(m), views.columns[m]
        if block.held_out is None or block.truth is None:
            continue
        out = block.held_out[:, columns].T
        if not out.any():
            continue
        truth, centre, spread = block.truth[:, columns].T[out], mean[here][out], sd[here][out]
        plain = np.broadcast_to(_plain(views, m), out.shape)[out]
        noise = np.broadcast_to(_plain_sd(views, m)[:, None], out.shape)[out]
        rows["View"].append(views.names[m])
        rows["Cells"].append(int(out.sum()))
        word = views.likelihoods[m]
        rows["Log likelihood"].append(_score(word, truth, centre, spread))
        rows["Constant"].append(_score(word, truth, plain, noise))
    return Table(
        {title: np.array(column) for title, column in rows.items()},
        label="Held-out cells",
        doc="Mean log likelihood of a held-out cell under the fit, and under a constant per feature (and sample group, where "
        "groups have intercepts of their own).",
    )


def _plain(views: Views, index: int) -> np.ndarray:
    here, known, raw = views.place(index), views.observed[index], views.raw[index]
    mean = ((raw * known).sum(axis=1) / known.sum(axis=1) * views.unit[here])[:, None]
    if views.null.ndim == 2:  # groups have intercepts of their own, and so have constants
        own = np.array([known[:, views.group == g].sum(axis=1) for g in range(len(views.groups))])
        by_group = group_means(raw, known, views.group, len(views.groups)) * views.unit[here]
        mean = np.where(own > 0, by_group, mean.T).T[:, views.group]
    return mean + views.by_sample(views.mean, here)


def _plain_sd(views: Views, index: int) -> np.ndarray:
    known, raw = views.observed[index], views.raw[index]
    return np.sqrt((raw**2 * known).sum(axis=1) / known.sum(axis=1)) * views.unit[views.place(index)]


def _score(word: str, y: np.ndarray, mean: np.ndarray, sd: np.ndarray) -> float:
    from scipy.special import gammaln

    if word == "gaussian":
        sd = np.maximum(sd, 1e-150)
        return float((-0.5 * np.log(2 * np.pi) - np.log(sd) - 0.5 * ((y - mean) / sd) ** 2).mean())
    if word == "log":
        return float(log_share_of_counts(y, mean, np.maximum(sd, 1e-150)).mean())
    if word == "poisson":
        rate = np.maximum(mean, 1e-9)
        return float((y * np.log(rate) - rate - gammaln(y + 1)).mean())
    share = np.clip(mean, 1e-9, 1 - 1e-9)
    return float(np.where(y > 0, np.log(share), np.log1p(-share)).mean())


def _texts(views: Views, share: np.ndarray, kept: Kept, best: ChainView) -> dict[str, str]:
    k, m = share.shape[0] - 1, share.shape[1]
    totals = ", ".join(
        f"{format_percent(max(0.0, float(t)))} of {name}"
        for name, t in zip(views.names, share[-1], strict=True)
    )
    headline = f"{counted(k, 'factor')} {agree(k, 'explains', 'explain')} {totals}"
    if share[-1].max(initial=0.0) < NOTHING:
        headline = f"No factor was found: nothing is seen that features of {' and '.join(views.names)} have in common"
    shared = int(((share[:-1] >= 0.01).sum(axis=1) > 1).sum())
    parts = []
    if m > 1:
        parts.append(
            "No factor explains 1 % or more of two views"
            if not shared
            else f"{shared} of them {agree(shared, 'explains', 'explain')} at least 1 % of two views or more"
        )
    listed = ", ".join(
        f"{name} {NAMES[word]}" for name, word in zip(views.names, views.likelihoods, strict=True)
    )
    parts.append(f"likelihoods: {listed}")
    units = [set(views.unit[views.place(m)]) for m in range(m)]
    if scaled := [name for name, unit in zip(views.names, units, strict=True) if len(unit) > 1]:
        parts.append(f"features of {', '.join(scaled)} divided by their standard deviations")
    for name, unit in zip(views.names, units, strict=True):
        if len(unit) == 1 and unit != {1.0}:
            parts.append(f"{name} divided by its standard deviation, {unit.pop():.3g}")
    if len(kept.chains) > 1:
        parts.append(f"best of {counted(len(kept.chains), 'restart')} by the bound")
    caption = "; ".join(parts)
    return {"headline": headline, "caption": caption[:1].upper() + caption[1:] + "."}


def _by_group(views: Views, draw: dict[str, np.ndarray], sums: Sums, order: np.ndarray) -> Results:
    """What is explained in each sample group by the factors in this order; of no group where none are given."""
    names = np.array(views.groups if len(views.groups) > 1 else (), dtype=str)
    share = np.zeros((0, len(views.names), len(draw["z"])))
    if len(names):
        share = share_by_group(views, draw, sums)[:, order].swapaxes(1, 2)
    return {
        "sample_group": Result(names, ("sample_group",)),
        "variance_by_group": Result(
            share, ("sample_group", "view", "factor"), label="Share explained by sample group"
        ),
    }


def _explained_results(views: Views, share: np.ndarray, labels: np.ndarray, data: ModelData) -> Results:
    """What is explained, by factor and in all; ``share`` as of ``sweep.explained``."""
    return {
        "variance_explained": Result(share[:-1].T, ("view", "factor"), label="Share explained"),
        "total_explained": Result(share[-1], ("view",), label="Share explained by all factors"),
        "variance_table": Table(
            {
                "Factor": labels,
                **{name: share[:-1, m] for m, name in enumerate(views.names)},
                "Sum of views": share[:-1].sum(axis=1),
            },
            units=dict.fromkeys((*views.names, "Sum of views"), "share"),
            label="Variance explained",
        ),
        "totals": Table(
            {
                "View": np.array(views.names),
                "Likelihood": np.array([NAMES[word] for word in views.likelihoods]),
                "Explained": share[-1],
                "Sum of factors": share[:-1].sum(axis=0),
                "Features": np.array([len(part) for part in views.columns]),
                "Left out": np.array(
                    [b.shape[1] - len(c) for b, c in zip(blocks_of(data), views.columns, strict=True)]
                ),
            },
            units=dict.fromkeys(("Explained", "Sum of factors"), "share"),
            label="Totals",
            words=("Likelihood",),
        ),
    }


def summarise_fit(kept: Kept, data: ModelData, params: Settings) -> Results:
    """All results, of the best restart."""
    best = best_chain(kept)
    if best is None:
        return {"headline": "No restart has ended yet", "caption": ""}
    views = read_views(data, params)
    draw = last_of(best)
    sums = sums_of(views, draw)
    plain, share = draw, explained(deviance_of(views, draw, sums))
    draw, order = oriented(draw, share)
    share = share[[*order, len(order)]]
    labels = np.array([f"Factor {k + 1}" for k in range(len(order))])
    results: Results = {
        **_texts(views, share, kept, best),
        "factor": Result(labels, ("factor",)),
        "sample": Result(np.array(views.samples), ("sample",)),
        "view": Result(np.array(views.names), ("view",)),
        "likelihoods": Result(np.array(views.likelihoods), ("view",)),
        "variable": Result(np.array(views.features), ("variable",)),
        **_explained_results(views, share, labels, data),
        "scores": Result(draw["z"].T, ("sample", "factor"), label="Factor value"),
        "scores_sd": Result(np.sqrt(draw["z_var"]).T, ("sample", "factor"), label="SD of factor value"),
        "score_table": Table(
            {
                "Sample": np.array(views.samples),
                **{label: draw["z"][k] for k, label in enumerate(labels.tolist())},
            },
            label="Factor values",
        ),
        "loadings": Result(draw["w"], ("factor", "variable"), label="Weight"),
        "loading_interval": Result(
            draw["w"][..., None] + np.sqrt(np.maximum(draw["w_var"], 0))[..., None] * [-Z95, Z95],
            ("factor", "variable", "side"),
            label="95 % interval",
        ),
        "variable_view": Result(np.array(views.names)[views.view], ("variable",), label="View"),
        "inclusion": Result(draw["inclusion"], ("factor", "variable"), label="Inclusion probability"),
        "weights": weight_table(views, draw, labels),
        "correlation": Result(
            correlate_rows(draw["z"], draw["z"]), ("factor", "factor_2"), label="Correlation"
        ),
        **restart_results(kept, best, draw["z"], labels),
        **_by_group(views, plain, sums, order),
    }
    if (places := places_of(data)) is not None:
        results |= along_results(draw, places, coordinates_of(data["along"]), labels)
    if (scored := held_out(data, views, draw)) is not None:
        results["held_out"] = scored
    return results
