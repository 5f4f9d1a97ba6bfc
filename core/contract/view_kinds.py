"""The catalogue of views: which kinds the host draws, and what each needs. Plain data, for window and checks alike."""

from __future__ import annotations

from plaidwork.core.contract.view_kinds_families import FAMILY_KINDS
from plaidwork.core.contract.view_roles import ASSESSED, Role, ViewKind, optional

COMMON_KINDS: tuple[ViewKind, ...] = (
    ViewKind(
        "table",
        "table",
        "sort, filter, copy",
        (Role("values", (("n",), ("n", "m")), "a table, or numbers by item", table=True),),
    ),
    ViewKind(
        "heatmap",
        "heatmap",
        "a matrix of numbers with names and a colour bar",
        (
            Role("values", (("n", "m"),), "the numbers"),
            optional("row_names", ("n",), doc="names of the rows", table=True, text=True),
            optional("column_names", ("m",), doc="names of the columns", table=True, text=True),
            optional("mark", ("n", "m"), doc="1 where a cell has a dot, as when it is significant"),
        ),
    ),
    ViewKind(
        "bars",
        "histogram",
        "a discrete distribution, or a few numbers by category",
        (
            Role(
                "values",
                (("n",),),
                "heights, or a table of labels and heights",
                table=True,
                min_columns=2,
            ),
            optional("x", ("n",), doc="labels of the bars"),
            optional("interval", ("n", 2), doc="interval of each height"),
        ),
    ),
    ViewKind(
        "coefficients",
        "list",
        "weights of items, strongest first, with intervals",
        (
            Role("values", (("m",), ("K", "m")), "the coefficients, of one list or of K factors"),
            optional("interval", ("m", 2), ("K", "m", 2), doc="interval of each coefficient"),
            optional("probability", ("m",), ("K", "m"), doc="probability that it is not zero"),
            optional("names", ("m",), doc="names of the items", table=True, text=True),
            optional("group", ("m",), doc="group of each item, shown side by side", text=True),
        ),
    ),
    ViewKind(
        "effects",
        "effects",
        "estimates with intervals from a line at zero, groups side by side",
        (
            Role("values", (("m",),), "the estimates, NaN where there is none"),
            optional("interval", ("m", 2), doc="interval of each estimate"),
            optional("names", ("m",), doc="what each estimate is of", table=True, text=True),
            optional("group", ("m",), doc="group of each; groups of one name share a row", text=True),
            optional("reason", ("m",), doc="why there is no estimate", text=True),
            optional("count", ("m",), doc="items that each estimate rests on"),
            optional("p", ("m",), doc="p-value of each estimate"),
        ),
    ),
    ViewKind(
        "scatter",
        "scatter",
        "items by two factors, coloured by what is known of them",
        (
            Role("values", (("n", "K"),), "scores of the items on the factors"),
            optional("names", ("n",), doc="names of the items", table=True, text=True),
            optional("colour", ("n",), doc="a number or class of each item", text=True),
            optional(
                "planes",
                ("T", "G", "L"),
                doc="G linear classifiers in T groups, L = K + 1: the offset last",
            ),
            optional("centres", ("T", "K"), doc="centres of the groups"),
            optional("spread", ("T",), doc="standard deviation of each group"),
            optional("share", ("T",), doc="share of the items in each group"),
        ),
    ),
    ViewKind(
        "beeswarm",
        "beeswarm",
        "items by one factor, class beside class",
        (
            Role("values", (("n", "K"),), "scores of the items on the factors"),
            optional("names", ("n",), doc="names of the items", table=True, text=True),
            optional("colour", ("n",), doc="a number or class of each item", text=True),
        ),
    ),
    ViewKind(
        "factor_heatmap",
        "heatmap",
        "the strongest columns of a factor, items in the order of its scores",
        (
            Role("values", (("n", "K"),), "scores of the items on the factors"),
            Role("weights", (("K", "m"),), "weights of the columns"),
            Role("matrix", doc="the data, data:X; one of many matrices is found by its name"),
            optional("fitted", doc="what the fit expects, fitted:X", fitted=True),
            optional("names", ("m",), doc="names of the columns", table=True, text=True),
            optional("group", ("m",), doc="matrix that each column is of", text=True),
        ),
    ),
    ViewKind(
        "imputed",
        "imputed",
        "missing cells with what the fit expects in them, and its standard deviation",
        (Role("values", doc="fitted:X", fitted=True),),
    ),
    ViewKind(
        "curve",
        "chart",
        "mean and band along an axis",
        (
            Role("values", (("t",), ("K", "t")), "one curve, or K"),
            optional("interval", ("t", 2), ("K", "t", 2), doc="band of each curve"),
            optional("x", ("t",), doc="places along the axis"),
            optional("marks", ("m",), doc="places with a line across"),
            optional("rug", ("n",), doc="places of the data, as ticks on the axis"),
            optional("shaded", ("s", 2), doc="stretches of the axis that are shaded, called by the label"),
        ),
    ),
    ViewKind(
        "confusion", "confusion", "true against most probable classes, with shares of the rows", ASSESSED
    ),
    ViewKind("roc", "roc", "ROC and precision-recall curves of a class, areas with intervals", ASSESSED),
    ViewKind(
        "calibration", "target", "whether probabilities hold: shares by bins, log loss, Brier score", ASSESSED
    ),
    ViewKind("picture", "chart", "a picture of the plugin's own, by the option factory", (), any_roles=True),
    ViewKind("custom", "chart", "a widget of the plugin's own, by the option factory", (), any_roles=True),
)
"""Kinds for any model."""

VIEW_KINDS: dict[str, ViewKind] = {kind.name: kind for kind in (*COMMON_KINDS, *FAMILY_KINDS)}
"""All kinds by name: pictures are drawn by the module of that name in ``core/views``, others have a page of the window
(``gui/results/registry.py``)."""
