"""Kinds of view that were made for one family of models each; any other may use them."""

from __future__ import annotations

from plaidwork.core.contract.view_roles import ASSESSED, Role, ViewKind, optional

FAMILY_KINDS: tuple[ViewKind, ...] = (
    ViewKind(
        "biclusters",
        "blocks",
        "a matrix re-ordered so that its blocks hold together",
        (
            Role("matrix", (("n", "m"),), "the matrix, usually data:"),
            Role("rows", (("L", "n"),), "membership of the rows, 0 to 1"),
            Role("cols", (("L", "m"),), "membership of the columns, 0 to 1"),
            optional(
                "blocks",
                doc="the list of blocks, with Shift, Low, High, Present",
                array=False,
                table=True,
            ),
            optional("shift", ("L",), doc="strength of each block"),
            optional("interval", ("L", 2), doc="interval of the strength"),
            optional("present", ("L",), doc="share of draws with the block"),
            optional("fit", ("n", "m"), doc="fitted values"),
            optional("coverage", ("n", "m"), doc="probability of being in a block"),
            optional("background", doc="level outside all blocks"),
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
            optional("order", ("n", "m"), doc="0 where a cell is in order, 1 where not, below 0 unknown"),
            optional("thresholds", ("m", "c"), doc="thresholds of each column, rising"),
            optional("levels", ("m",), doc="levels of each column: one more than its thresholds"),
            optional("names", ("m",), doc="names of the columns", table=True, text=True),
            optional("first", (1,), doc="number of the column shown first, from 0"),
        ),
    ),
    ViewKind(
        "documents",
        "document",
        "the documents that say most of a factor, its words marked in their texts",
        (
            Role("scores", (("n", "K"),), "scores or probabilities of the documents"),
            optional("strength", ("n", "K"), doc="breaks ties of the scores"),
            optional("words", ("K", "m"), ("m", "K"), doc="weights of the words"),
            optional("names", ("m",), doc="the words", table=True, text=True),
            optional("documents", ("n",), doc="names of the documents", table=True, text=True),
            optional("outcome", ("n",), doc="a number or class of each document", text=True),
        ),
    ),
    ViewKind(
        "restarts",
        "compare",
        "factors of two restarts, paired by their correlation",
        (
            Role("values", (("F", "F"),), "correlations of the factors of all restarts"),
            Role("restart", (("F",),), "number of the restart of each factor"),
            optional("names", ("F",), doc="names of the factors", table=True, text=True),
            optional("shown", (1,), doc="number of the restart that the other views show"),
        ),
    ),
    ViewKind(
        "variance",
        "tiles",
        "how much each factor explains of each view",
        (
            Role("values", (("V", "K"),), "shares, 0 to 1"),
            optional("total", ("V",), doc="share that all factors explain together"),
            optional("row_names", ("V",), doc="names of the views", table=True, text=True),
            optional("column_names", ("K",), doc="names of the factors", table=True, text=True),
            optional("by_group", ("G", "V", "K"), doc="shares of each group of samples"),
            optional("groups", ("G",), doc="names of the groups", table=True, text=True),
        ),
    ),
    ViewKind(
        "posterior",
        "histogram",
        "densities of the draws of a few quantities, with their priors",
        (
            Role("values", (("c", "n", "P"), ("n", "P")), "draws, by chain or together"),
            optional("x", ("P", "t"), doc="rising places at which the priors are told"),
            optional("prior", ("P", "t"), doc="prior densities there"),
            optional("names", ("P",), doc="names of the quantities", table=True, text=True),
        ),
    ),
    ViewKind(
        "image_grid",
        "tiles",
        "an image for each factor, with its weight in a classifier",
        (
            Role("values", (("K", "D"), ("K", "H", "W")), "the images, signed or not"),
            optional("weight", ("K",), ("G", "K"), doc="weights in one classifier, or in G"),
            optional("interval", ("K", 2), ("G", "K", 2), doc="interval of each weight"),
            optional(
                "weight_names",
                ("G",),
                doc="class that a positive weight speaks for",
                table=True,
                text=True,
            ),
            optional("names", ("K",), doc="names of the images", table=True, text=True),
            optional("scores", ("n", "K"), doc="scores of the items on the factors"),
            optional("classes", ("n",), doc="class of each item", text=True),
            optional("images", doc="the data, data:X, for the mean image of each class"),
        ),
    ),
    ViewKind("shares", "tiles", "class probabilities item by item, stacked to one", ASSESSED),
    ViewKind(
        "surface",
        "map",
        "a map of class probabilities over two inputs, with contours, boundary and data",
        (
            Role("values", (("C", "gy", "gx"), ("gy", "gx")), "of each class, or of the second of two"),
            Role("x", (("gx",),), "rising places across"),
            Role("y", (("gy",),), "rising places up"),
            optional("names", ("C",), doc="names of the classes", table=True, text=True),
            optional("points", ("n", 2), doc="the data, in units of x and y"),
            optional("labels", ("n",), doc="class of each point from 0, below 0 where unknown"),
            optional("test", ("n",), doc="1 for test points"),
            optional("null", ("gy", "gx"), doc="probability of no class"),
            optional("uncertainty", ("gy", "gx"), ("C", "gy", "gx"), doc="as standard deviations"),
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
            optional("edges", ("e", 2), doc="numbers of the two nodes of each link, from 0"),
            optional("confidence", ("n", "n"), ("e",), ("K", "m"), doc="0 to 1, as the share of draws"),
            optional("names", ("n",), ("m",), doc="names of the nodes", table=True, text=True),
            optional("row_names", ("K",), doc="names of the first kind", table=True, text=True),
            optional("strength", ("n",), ("m",), doc="size of the nodes"),
            optional("group", ("n",), ("m",), doc="group of each node", text=True),
        ),
    ),
)
