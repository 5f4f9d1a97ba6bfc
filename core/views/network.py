"""Which items belong together: a network by forces, in a circle, around one of its nodes, or as a matrix."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from plaidwork.core.draws.counting import counted, plural
from plaidwork.core.draws.numbers import format_count, format_number, format_probability
from plaidwork.core.pictures import (
    Axis,
    Color,
    File,
    Items,
    Key,
    Links,
    Listing,
    Mark,
    Panel,
    Picture,
    Points,
    Texts,
    ViewChoices,
)
from plaidwork.core.pictures.choices import MANY
from plaidwork.core.pictures.scales import nice_step
from plaidwork.core.pictures.words import capital
from plaidwork.core.views.network_data import ALL, MOST_LINKS, Network, Shown, kept_layout, load_network
from plaidwork.core.views.network_files import graphml
from plaidwork.core.views.network_matrix import matrix_picture
from plaidwork.core.views.network_places import around, circle, compact
from plaidwork.core.views.sources import Sources

_LAYOUTS = (("force", "Force"), ("circle", "Circle"), ("matrix", "Matrix"))
_STEPS, _SEEDS = 100, 20
_AT_FIRST, _NAMED, _MANY = 1500, 30, 3000
"""Links shown at first, about; nodes named at once; links from which all are thin."""
_AREA = 900.0 * 560.0
"""Pixels of the picture for which the nodes are made so large."""


def load(sources: Sources, choices: ViewChoices) -> Picture:
    """Role ``values``: weights of all pairs (n, n), of the links listed in ``edges`` (e, 2), or between two kinds of
    nodes (K, m); ``confidence`` of the same shape, 0 to 1; ``names`` (n,), ``row_names`` (K,), ``strength`` (n,) and
    ``group`` (n,) of the nodes.

    Options: ``threshold`` (least size of a weight), ``top`` (strongest links of a node), ``two_kinds`` (a square matrix is
    between two kinds of nodes). The layout is kept in the session.
    """
    from plaidwork.core.numerics.lines import prepare

    prepare()  # the first picture does not have to wait for it
    data = load_network(sources, choices.kept)
    if not len(data.ends):
        return Picture(
            sources.view.title, empty=("No links", "The run has found no links between the items.")
        )
    shown = _chosen_links(data, sources, choices)
    layout = choices.pick("layout", "Layout", _LAYOUTS)
    if layout == "matrix" and len(shown.links):
        return matrix_picture(shown, _counts(shown), _table(shown))
    focus = _chosen_node(shown, choices) if layout != "matrix" else -1
    if not len(shown.links):
        return _nothing_left(shown)
    if focus < 0 and layout == "force":
        seed = int(choices.number("seed", "Layout number", 1, _SEEDS, min(max(data.seed, 1), _SEEDS)))
        if seed != data.seed:
            data = load_network(sources, choices.kept, seed)
            shown = Shown(data, shown.links)
    choices.kept = kept_layout(data)
    return _drawn(shown, focus, layout)


def _chosen_links(data: Network, sources: Sources, choices: ViewChoices) -> Shown:
    """The links that are strong enough, of all nodes or of a group."""
    low, high = data.limits
    size = np.abs(data.weights)
    first = float(size[_AT_FIRST - 1]) if len(size) > _AT_FIRST else low
    least = float(sources.view.options.get("threshold", first))
    if high > low:
        step = nice_step(high - low, _STEPS)
        ends = np.floor(low / step) * step, np.ceil(high / step) * step
        least = choices.number("least", "At least", *ends, np.floor(least / step) * step, step)
    given = int(sources.view.options.get("top", ALL))
    tops = sorted({1, 2, 3, 5, 10, *([given] if given < ALL else [])})
    options = [("all", "all"), *((str(top), str(top)) for top in tops)]
    top = choices.pick("top", "Strongest each", options, str(given) if given < ALL else "all")
    names = data.names[: data.first] if data.first else data.colours.classes if data.colours.title else ()
    group = -1
    if len(names) > 1:
        group = choices.among("group", data.kind, ("all", *names)) - 1
    return data.shown(min(least, high), ALL if top == "all" else int(top), group)


def _chosen_node(shown: Shown, choices: ViewChoices) -> int:
    """The node whose neighbours are shown; -1 for all."""
    nodes = shown.nodes.tolist()
    names = [("all", "all"), *((str(i), shown.network.names[i]) for i in nodes)]
    whole = (("", len(names)),)
    items, stands = _items(shown.network, nodes), {}
    if items is not None:
        stands = {
            str(i): number for i, number in zip(nodes, items.index.tolist(), strict=True) if number >= 0
        }
    wanted = choices.pick(
        "around",
        "Around",
        names,
        kind=MANY,
        searched=True,
        sections=whole,
        of=items.kind if items is not None and stands else "",
        stands=stands,
        opens=True,
    )
    return -1 if wanted == "all" else int(wanted)


# -- the picture --------------------------------------------------------------------------------
def _drawn(shown: Shown, focus: int, layout: str) -> Picture:
    data = shown.network
    if focus >= 0:
        places = around(shown, focus)
    else:
        places = circle(shown) if layout == "circle" else compact(data.places, shown.nodes)
    part = Shown(data, shown.links[np.isfinite(places[data.ends[shown.links]]).all(axis=(1, 2))])
    nodes = [i for i in shown.nodes.tolist() if np.isfinite(places[i]).all()]
    radius = _radii(shown, focus >= 0)
    reach = 1.3 if focus >= 0 else 1.08
    panel = Panel(
        (
            _links(part, places, focus),
            *_nodes(shown, places, nodes[::-1], radius, focus),
            _names(data, places, _named(shown, nodes, focus), radius),
        ),
        Axis(ticks=False, line=False, low=-reach, high=reach),
        Axis(ticks=False, low=-reach, high=reach),
        equal=layout == "circle" and focus < 0,
        lines=False,
    )
    headline, caption = _counts(shown), _key(data)
    if focus >= 0:
        count = int(shown.degree[focus])
        headline = f"{data.names[focus]} is linked to {counted(count, data.word)}"
        caption = f"The whole network has {_counts(shown)}. {caption}"
    colors = data.colours.categories()
    titled = enumerate(data.colours.classes) if data.colours.title else ()
    return Picture(
        headline,
        caption,
        (panel,),
        _notes(data, focus),
        tuple(Key(name, colors[k], "point", shape=k) for k, name in titled),
        _table(shown),
        beside=_lists(shown, focus),
        files=(File("Export GraphML…", ".graphml", lambda path: _write_graph(path, shown, data), "links"),),
    )


def _write_graph(path: Path, shown: Shown, data: Network) -> int:
    """Write the links shown as GraphML; how many."""
    path.write_text(graphml(shown, data.places), encoding="utf-8", newline="\n")
    return len(shown.links)


def _nothing_left(shown: Shown) -> Picture:
    """Words in place of links, so that other ones can be chosen."""
    words = Texts([0], [0], ("No links are left by these choices",), "middle")
    ends = Axis(ticks=False, line=False, low=-1, high=1)
    return Picture(
        _counts(shown), "", (Panel((words,), ends, ends, zoom="", lines=False),), table=_table(shown)
    )


def _links(part: Shown, places: np.ndarray, focus: int) -> Links:
    """Weakest first; those of the focus dark and on top."""
    data, links = part.network, part.links[::-1]
    strong = (data.ends[links] == focus).any(axis=1)
    order = np.argsort(strong, kind="stable")
    links, strong = links[order], strong[order]
    size, many = np.abs(data.weights[links]), len(links)
    low, high = (float(size.min()), float(size.max())) if many else (0.0, 1.0)
    share = (size - low) / ((high - low) or 1.0)
    widths = 0.8 + share * (2.6 if many <= _MANY else 0.6)
    opacity = np.full(many, float(np.clip(0.8 * (400 / max(many, 1)) ** 0.6, 0.1, 0.8)))
    if focus >= 0:
        widths = np.where(strong, 1.2 + 2.6 * share, 0.8)
        opacity = np.where(strong, 0.95, 0.3)
    if data.confidence is not None:
        opacity = opacity * (0.12 + 0.88 * np.clip(np.nan_to_num(data.confidence[links]), 0, 1))
    (x0, y0), (x1, y1) = places[data.ends[links]].transpose(1, 2, 0)
    colors: tuple[Color, ...] = tuple("text" if yes else "control" for yes in strong.tolist())
    dashed = (data.weights[links] < 0).astype(float)
    return Links(x0, y0, x1, y1, widths, opacity, dashed, name="links", color=colors)


def _radii(shown: Shown, focus: bool) -> np.ndarray:
    """(n,) radius of each node in pixels, by strength, or by its links where none is given."""
    data = shown.network
    base = 8.0 if focus else float(np.clip(0.13 * (_AREA / max(len(shown.nodes), 1)) ** 0.5, 2.0, 7.5))
    size = shown.degree.astype(float) if data.strength is None else np.abs(np.nan_to_num(data.strength))
    most = float(size[shown.nodes].max(initial=0.0)) or 1.0
    return np.asarray(base * (0.55 + 0.75 * np.sqrt(np.clip(size / most, 0, 1))))


def _nodes(
    shown: Shown, places: np.ndarray, nodes: list[int], radius: np.ndarray, focus: int
) -> list[Points]:
    """Nodes of either kind as marks of their group, the most important last; a click shows the neighbours of one."""
    parts = [[i for i in nodes if i >= shown.network.first], [i for i in nodes if i < shown.network.first]]
    return [_marks(shown, places, part, radius, focus) for part in parts if part]


def _marks(shown: Shown, places: np.ndarray, nodes: list[int], radius: np.ndarray, focus: int) -> Points:
    data = shown.network
    kinds, codes = data.colours.categories(), data.colours.codes
    x, y = places[nodes].T
    return Points(
        x,
        y,
        shapes=tuple(int(codes[i]) if data.colours.title else 0 for i in nodes),
        sizes=2 * radius[nodes] - 1,
        name=plural(data.word),
        color=tuple(kinds[codes[i]] if data.colours.title and codes[i] >= 0 else 0 for i in nodes),
        read=lambda k: _told(shown, nodes[k], focus),
        of=_items(data, nodes),
        choice=("around", tuple(map(str, nodes))),
    )


def _items(data: Network, nodes: list[int]) -> Items | None:
    """What nodes stand for in other views: items of the data; of two kinds the first are the layers."""
    if data.items is None or all(i < data.first for i in nodes):
        return Items("layer", np.array([i if i < data.first else -1 for i in nodes])) if data.first else None
    own = {i: int(data.items[i - data.first]) for i in nodes if i >= data.first}
    return Items(data.selection_kind, np.array([own.get(i, -1) for i in nodes]))


def _named(shown: Shown, nodes: list[int], focus: int) -> list[int]:
    """Nodes with names: the most important ones, or the focus and its neighbours."""
    if focus < 0:
        return nodes[:_NAMED]
    others = shown.other(shown.links_of(focus), focus).tolist()
    return [focus, *(i for i in others if i in set(nodes))]


def _names(data: Network, places: np.ndarray, nodes: list[int], radius: np.ndarray) -> Mark:
    x, y = places[nodes].T
    words = tuple(data.names[i] for i in nodes)
    return Texts(x, y, words, "free", halo=True, clear=radius[nodes] + 1, color="text")


# -- words --------------------------------------------------------------------------------------
def _told(shown: Shown, node: int, focus: int) -> str:
    """A node in words: its links, or its link to the chosen one."""
    data = shown.network
    text = data.names[node]
    if focus >= 0 and node != focus:
        links = shown.links_of(focus)
        link = links[shown.other(links, focus) == node]
        if len(link):
            text += f": {data.label.lower()} {format_number(float(data.weights[link[0]]), 3)}"
            if data.confidence is not None:
                share = format_probability(float(data.confidence[link[0]]))
                text += f", {data.confidence_label.lower()} {share}"
        return text
    text += f": {counted(int(shown.degree[node]), 'link')}"
    if data.strength is not None:
        text += f", {data.strength_label.lower()} {format_number(float(data.strength[node]), 3)}"
    return text


def _counts(shown: Shown) -> str:
    nodes, links, groups = len(shown.nodes), len(shown.links), shown.groups
    word = plural(shown.network.word)
    text = f"{format_count(nodes)} {word}, {counted(links, 'link')}"
    return f"{text}, {counted(groups, 'separate group')}" if groups > 1 else text


def _key(data: Network) -> str:
    """What width, dashes, paleness and size mean."""
    parts = [f"Width: {data.label.lower()}"]
    if (data.weights < 0).any():
        parts.append("dashed: below zero")
    if data.confidence is not None:
        parts.append(f"pale: small {data.confidence_label.lower()}")
    parts.append(f"size: {data.strength_label.lower() if data.strength is not None else 'links'}")
    return ", ".join(parts)


def _notes(data: Network, focus: int) -> str:
    text = "Near: strong" if focus >= 0 else ""
    if data.total > len(data.ends):
        most = f"The {format_count(MOST_LINKS)} strongest of {counted(data.total, 'link')}"
        text = f"{text}; {most[:1].lower()}{most[1:]}" if text else most
    return text


def _table(shown: Shown) -> dict[str, np.ndarray]:
    """The links that are shown, strongest first."""
    data, links = shown.network, shown.links
    names = np.array(data.names, dtype=object)
    columns = {
        capital(data.word): names[data.ends[links, 0]],
        f"Other {data.word}": names[data.ends[links, 1]],
        capital(data.label): data.weights[links],
    }
    if data.confidence is not None:
        columns[capital(data.confidence_label)] = data.confidence[links]
    return columns


def _lists(shown: Shown, focus: int) -> tuple[Listing, ...]:
    """The neighbours of the chosen node, strongest first, and all nodes by the number of their links."""
    data, found = shown.network, []
    names = np.array(data.names, dtype=object)
    if focus >= 0:
        links = shown.links_of(focus)
        others = shown.other(links, focus)
        columns = {"Linked to": names[others], capital(data.label): data.weights[links]}
        if data.confidence is not None:
            columns[capital(data.confidence_label)] = data.confidence[links]
        found.append(_listing(data, _told(shown, focus, focus), columns, others))
    nodes = shown.nodes[np.argsort(-shown.degree[shown.nodes], kind="stable")]
    columns = {capital(data.word): names[nodes], "Links": shown.degree[nodes]}
    if data.strength is not None:
        columns[capital(data.strength_label)] = data.strength[nodes]
    title = f"All {format_count(len(nodes))} linked {plural(data.word)}"
    return (*found, _listing(data, title, columns, nodes))


def _listing(data: Network, title: str, columns: dict[str, np.ndarray], nodes: np.ndarray) -> Listing:
    numbers = nodes.tolist()
    return Listing(title, columns, _items(data, numbers), ("around", tuple(map(str, numbers))))
