"""The catalogue of views: which kinds the host draws, and what each needs. Plain data, for window and checks alike."""

from __future__ import annotations

from dataclasses import dataclass

Shape = tuple[str | int, ...]
"""Lengths of the axes: a number, or a letter that stands for one length within a view."""


@dataclass(frozen=True, slots=True)
class Role:
    """One part of a view's source.

    Attributes
    ----------
    shapes : the shapes an array may have; empty for any.
    fitted : whether the source has to be ``fitted:X``.
    table, text : whether a ``Table``, or an array of texts, is taken instead of numbers.
    columns : titles that a table must have; a table without such titles needs ``min_columns``.
    """

    name: str
    shapes: tuple[Shape, ...] = ()
    doc: str = ""
    required: bool = True
    array: bool = True
    table: bool = False
    text: bool = False
    min_columns: int = 0
    fitted: bool = False


@dataclass(frozen=True, slots=True)
class ViewKind:
    """A kind of view: its roles and the name of its icon."""

    name: str
    icon: str
    doc: str
    roles: tuple[Role, ...]
    any_roles: bool = False
    """Whether the source may have roles of any name."""

    @property
    def required(self) -> tuple[str, ...]:
        """Names of the roles that must be in the source."""
        return tuple(role.name for role in self.roles if role.required)

    def role(self, name: str) -> Role | None:
        return next((role for role in self.roles if role.name == name), None)


def _optional(name: str, *shapes: Shape, doc: str = "", **more: bool) -> Role:
    return Role(name, shapes, doc, required=False, **more)


VIEW_KINDS: dict[str, ViewKind] = {
    kind.name: kind
    for kind in (
        ViewKind(
            "biclusters",
            "blocks",
            "a matrix re-ordered so that its blocks hold together",
            (
                Role("matrix", (("n", "m"),), "the matrix, usually data:"),
                Role("rows", (("L", "n"),), "membership of the rows, 0 to 1"),
                Role("cols", (("L", "m"),), "membership of the columns, 0 to 1"),
                _optional(
                    "blocks",
                    doc="the list of blocks, with Shift, Low, High, Present",
                    array=False,
                    table=True,
                ),
                _optional("shift", ("L",), doc="strength of each block"),
                _optional("interval", ("L", 2), doc="interval of the strength"),
                _optional("present", ("L",), doc="share of draws with the block"),
                _optional("fit", ("n", "m"), doc="fitted values"),
                _optional("coverage", ("n", "m"), doc="probability of being in a block"),
                _optional("background", doc="level outside all blocks"),
            ),
        ),
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
                _optional("row_names", ("n",), doc="names of the rows", table=True, text=True),
                _optional("column_names", ("m",), doc="names of the columns", table=True, text=True),
                _optional("mark", ("n", "m"), doc="1 where a cell has a dot, as when it is significant"),
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
                _optional("x", ("n",), doc="labels of the bars"),
                _optional("interval", ("n", 2), doc="interval of each height"),
            ),
        ),
        ViewKind(
            "coefficients",
            "list",
            "weights of items, strongest first, with intervals",
            (
                Role("values", (("m",), ("K", "m")), "the coefficients, of one list or of K factors"),
                _optional("interval", ("m", 2), ("K", "m", 2), doc="interval of each coefficient"),
                _optional("probability", ("m",), ("K", "m"), doc="probability that it is not zero"),
                _optional("names", ("m",), doc="names of the items", table=True, text=True),
                _optional("group", ("m",), doc="group of each item, shown side by side", text=True),
            ),
        ),
        ViewKind(
            "effects",
            "effects",
            "estimates with intervals from a line at zero, groups side by side",
            (
                Role("values", (("m",),), "the estimates, NaN where there is none"),
                _optional("interval", ("m", 2), doc="interval of each estimate"),
                _optional("names", ("m",), doc="what each estimate is of", table=True, text=True),
                _optional("group", ("m",), doc="group of each; groups of one name share a row", text=True),
                _optional("reason", ("m",), doc="why there is no estimate", text=True),
                _optional("count", ("m",), doc="items that each estimate rests on"),
                _optional("p", ("m",), doc="p-value of each estimate"),
            ),
        ),
        ViewKind(
            "scatter",
            "scatter",
            "items by two factors, coloured by what is known of them",
            (
                Role("values", (("n", "K"),), "scores of the items on the factors"),
                _optional("names", ("n",), doc="names of the items", table=True, text=True),
                _optional("colour", ("n",), doc="a number or class of each item", text=True),
                _optional(
                    "planes",
                    ("T", "G", "L"),
                    doc="G linear classifiers in T groups, L = K + 1: the offset last",
                ),
                _optional("centres", ("T", "K"), doc="centres of the groups"),
                _optional("spread", ("T",), doc="standard deviation of each group"),
                _optional("share", ("T",), doc="share of the items in each group"),
            ),
        ),
        ViewKind(
            "feature_fit",
            "scatter",
            "one column of the data against what the factors make of it, with thresholds",
            (
                Role("values", (("n", "K"),), "scores of the items on the factors"),
                Role("weights", (("K", "m"),), "weights of the columns"),
                Role("matrix", (("n", "m"),), "the data, data:X"),
                _optional(
                    "order", ("n", "m"), doc="0 where a cell is in order, 1 where not, below 0 unknown"
                ),
                _optional("thresholds", ("m", "c"), doc="thresholds of each column, rising"),
                _optional("levels", ("m",), doc="levels of each column: one more than its thresholds"),
                _optional("names", ("m",), doc="names of the columns", table=True, text=True),
                _optional("first", (1,), doc="number of the column shown first, from 0"),
            ),
        ),
        ViewKind(
            "documents",
            "document",
            "the documents that say most of a factor, its words marked in their texts",
            (
                Role("scores", (("n", "K"),), "scores or probabilities of the documents"),
                _optional("strength", ("n", "K"), doc="breaks ties of the scores"),
                _optional("words", ("K", "m"), ("m", "K"), doc="weights of the words"),
                _optional("names", ("m",), doc="the words", table=True, text=True),
                _optional("documents", ("n",), doc="names of the documents", table=True, text=True),
                _optional("outcome", ("n",), doc="a number or class of each document", text=True),
            ),
        ),
        ViewKind(
            "beeswarm",
            "beeswarm",
            "items by one factor, class beside class",
            (
                Role("values", (("n", "K"),), "scores of the items on the factors"),
                _optional("names", ("n",), doc="names of the items", table=True, text=True),
                _optional("colour", ("n",), doc="a number or class of each item", text=True),
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
                _optional("fitted", doc="what the fit expects, fitted:X", fitted=True),
                _optional("names", ("m",), doc="names of the columns", table=True, text=True),
                _optional("group", ("m",), doc="matrix that each column is of", text=True),
            ),
        ),
        ViewKind(
            "imputed",
            "imputed",
            "missing cells with what the fit expects in them, and its standard deviation",
            (Role("values", doc="fitted:X", fitted=True),),
        ),
        ViewKind(
            "restarts",
            "compare",
            "factors of two restarts, paired by their correlation",
            (
                Role("values", (("F", "F"),), "correlations of the factors of all restarts"),
                Role("restart", (("F",),), "number of the restart of each factor"),
                _optional("names", ("F",), doc="names of the factors", table=True, text=True),
                _optional("shown", (1,), doc="number of the restart that the other views show"),
            ),
        ),
        ViewKind(
            "variance",
            "tiles",
            "how much each factor explains of each view",
            (
                Role("values", (("V", "K"),), "shares, 0 to 1"),
                _optional("total", ("V",), doc="share that all factors explain together"),
                _optional("row_names", ("V",), doc="names of the views", table=True, text=True),
                _optional("column_names", ("K",), doc="names of the factors", table=True, text=True),
                _optional("by_group", ("G", "V", "K"), doc="shares of each group of samples"),
                _optional("groups", ("G",), doc="names of the groups", table=True, text=True),
            ),
        ),
        ViewKind(
            "curve",
            "chart",
            "mean and band along an axis",
            (
                Role("values", (("t",), ("K", "t")), "one curve, or K"),
                _optional("interval", ("t", 2), ("K", "t", 2), doc="band of each curve"),
                _optional("x", ("t",), doc="places along the axis"),
                _optional("marks", ("m",), doc="places with a line across"),
                _optional("rug", ("n",), doc="places of the data, as ticks on the axis"),
            ),
        ),
        ViewKind(
            "posterior",
            "histogram",
            "densities of the draws of a few quantities, with their priors",
            (
                Role("values", (("c", "n", "P"), ("n", "P")), "draws, by chain or together"),
                _optional("x", ("P", "t"), doc="rising places at which the priors are told"),
                _optional("prior", ("P", "t"), doc="prior densities there"),
                _optional("names", ("P",), doc="names of the quantities", table=True, text=True),
            ),
        ),
        ViewKind(
            "image_grid",
            "tiles",
            "an image for each factor, with its weight in a classifier",
            (
                Role("values", (("K", "D"), ("K", "H", "W")), "the images, signed or not"),
                _optional("weight", ("K",), ("G", "K"), doc="weights in one classifier, or in G"),
                _optional("interval", ("K", 2), ("G", "K", 2), doc="interval of each weight"),
                _optional(
                    "weight_names",
                    ("G",),
                    doc="class that a positive weight speaks for",
                    table=True,
                    text=True,
                ),
                _optional("names", ("K",), doc="names of the images", table=True, text=True),
                _optional("scores", ("n", "K"), doc="scores of the items on the factors"),
                _optional("classes", ("n",), doc="class of each item", text=True),
                _optional("images", doc="the data, data:X, for the mean image of each class"),
            ),
        ),
        *(
            ViewKind(
                name,
                icon,
                doc,
                (
                    Role("labels", (("n",),), "number of each item's class from 0, below 0 where unknown"),
                    Role("probability", (("n", "C"), ("n",)), "of each class, or of the second of two"),
                    _optional("names", ("C",), doc="names of the classes", table=True, text=True),
                    _optional("part", ("n",), doc="as test or fitted: parts are judged apart", text=True),
                ),
            )
            for name, icon, doc in (
                ("confusion", "confusion", "true against most probable classes, with shares of the rows"),
                ("roc", "roc", "ROC and precision-recall curves of a class, areas with intervals"),
                (
                    "calibration",
                    "target",
                    "whether probabilities hold: shares by bins, log loss, Brier score",
                ),
                ("shares", "tiles", "class probabilities item by item, stacked to one"),
            )
        ),
        ViewKind(
            "surface",
            "map",
            "a map of class probabilities over two inputs, with contours, boundary and data",
            (
                Role("values", (("C", "gy", "gx"), ("gy", "gx")), "of each class, or of the second of two"),
                Role("x", (("gx",),), "rising places across"),
                Role("y", (("gy",),), "rising places up"),
                _optional("names", ("C",), doc="names of the classes", table=True, text=True),
                _optional("points", ("n", 2), doc="the data, in units of x and y"),
                _optional("labels", ("n",), doc="class of each point from 0, below 0 where unknown"),
                _optional("test", ("n",), doc="1 for test points"),
                _optional("null", ("gy", "gx"), doc="probability of no class"),
                _optional("uncertainty", ("gy", "gx"), ("C", "gy", "gx"), doc="as standard deviations"),
            ),
        ),
        ViewKind(
            "network",
            "network",
            "which items belong together: nodes, joined by links with weights",
            (
                Role(
                    "values",
                    (("n", "n"), ("e",), ("K", "m")),
                    "weights of all pairs, of a list of links, or between two kinds of nodes",
                ),
                _optional("edges", ("e", 2), doc="numbers of the two nodes of each link, from 0"),
                _optional("confidence", ("n", "n"), ("e",), ("K", "m"), doc="0 to 1, as the share of draws"),
                _optional("names", ("n",), ("m",), doc="names of the nodes", table=True, text=True),
                _optional("row_names", ("K",), doc="names of the first kind", table=True, text=True),
                _optional("strength", ("n",), ("m",), doc="size of the nodes"),
                _optional("group", ("n",), ("m",), doc="group of each node", text=True),
            ),
        ),
        ViewKind(
            "custom", "chart", "a widget of the plugin's own, by the option factory", (), any_roles=True
        ),
    )
}
"""Kinds by name. The window has a page for each (``gui/results/registry.py``)."""
