"""What each factor looks like and what it decides: an image for each, its weight in a classifier below it."""

from __future__ import annotations

from typing import Any

import numpy as np

from plaidwork.core.draws.counting import agree, counted, plural
from plaidwork.core.draws.numbers import (
    format_count,
    format_fixed,
    format_number,
    format_percent,
)
from plaidwork.core.pictures import (
    Axis,
    Bands,
    Facts,
    Image,
    Inset,
    Intervals,
    Items,
    Key,
    Line,
    Mark,
    Matrix,
    Panel,
    Picture,
    Points,
    Ramp,
    Rule,
    Texts,
    ViewChoices,
)
from plaidwork.core.pictures.densities import densities
from plaidwork.core.pictures.words import capital, headed
from plaidwork.core.views.images import Images, Weights, load_images, parted, separation, shape_of, sides
from plaidwork.core.views.matrices import Shades
from plaidwork.core.views.sources import Sources

_ORDERS = {"weight": "Weight", "size": "Size", "number": "Number"}
_SCALES = (("shared", "Shared"), ("own", "Each image"))
_LEAST, _LARGE, _BESIDE = 120.0, 180.0, 150.0
"""Pixels of the narrowest image of all, of one alone, and of the one beside the picture, about."""
_TEXT, _BAR = 40.0, 0.9
"""Pixels of what stands around an image, and lines of text that the bar of its weight is high."""
_POSITIVE, _NEGATIVE = 2, 3
"""Categories of what a positive and a negative weight speak for."""
_OTHERS = (_POSITIVE, _NEGATIVE, 5, 4, 0, 1)


def load(sources: Sources, choices: ViewChoices) -> Picture:
    """Role ``values`` (K, D) or (K, H, W): an image each; ``weight`` (K,) or (G, K), its weight in one or G classifiers,
    with ``interval`` (…, 2) and ``weight_names`` (G,), the class that a positive weight speaks for; ``scores`` (n, K) and
    ``classes`` (n,) of the items; ``images``, the data, for the mean image of each class; ``names`` (K,).

    Height and width come from the values, the option ``shape`` or the image shape of the data; else they are asked for.
    Other options: ``signed``, ``order_by`` ("weight", "size", "number") and ``scale`` ("shared", "own").
    """
    shape = shape_of(sources)
    if isinstance(shape, int):
        asked = _asked_shape(choices, shape)
        if asked is None:
            return _without_shape(sources, shape)
        shape = asked
    if not len(sources.result("values", (2, 3)).values):
        why = "The run has found nothing for this picture."
        return Picture(sources.view.title, empty=("Nothing to show", why))
    data = load_images(sources, shape)
    return _Sheet(data, sources, choices).picture()


def _asked_shape(choices: ViewChoices, count: int) -> tuple[int, int] | None:
    """Height and width of images of so many pixels as somebody has chosen them, square ones at first."""
    highs = [high for high in range(2, count // 2 + 1) if count % high == 0]
    options = [(f"{high}x{count // high}", f"{high} × {count // high}") for high in highs]
    square = next((f"{high}x{high}" for high in highs if high * high == count), "")
    asked = choices.pick("shape", "Height × width", [("", "not known"), *options], square, kind="list")
    high, _, wide = asked.partition("x")
    return (int(high), int(wide)) if asked else None


def _without_shape(sources: Sources, count: int) -> Picture:
    """Words in place of images, so that a height and width can be chosen."""
    words = f"Each has {counted(count, 'number')}: choose the height and width of an image above"
    ends = Axis(ticks=False, line=False, low=-1, high=1)
    panel = Panel((Texts([0], [0], (words,), "middle"),), ends, ends, zoom="", lines=False)
    return Picture(sources.view.title, "These data are not known to be images.", (panel,))


class _Sheet:
    """The images of a view with what is chosen of them."""

    def __init__(self, data: Images, sources: Sources, choices: ViewChoices) -> None:
        self.data, options = data, sources.view.options
        keys = [key for key in _ORDERS if key != "weight" or data.weights is not None]
        shown = (("all", "All"), ("one", "Chosen one"))
        self.alone = choices.pick("show", "Show", shown) == "one"
        self.order_by = choices.pick(
            "order", "Order by", [(key, _ORDERS[key]) for key in keys], str(options.get("order_by", ""))
        )
        self.own = choices.pick("scale", "Scale", _SCALES, str(options.get("scale", ""))) == "own"
        self.group = 0
        if data.weights is not None:
            self.group = choices.among("group", "Class", data.weights.names)
        self.order = data.order(self.order_by, self.group)
        section = {plural(data.word): data.names}
        first = str(int(self.order[0]))
        self.chosen = int(choices.find("image", capital(data.word), section, first, of="layer"))

    @property
    def _weights(self) -> Weights | None:
        return self.data.weights

    def picture(self) -> Picture:
        """All images in their order, or the chosen one beside the mean of each class."""
        data = self.data
        panels: list[Panel] = []
        if self.alone:
            panels = [self._panel(self.chosen), *self._means()]
        else:
            for k in self.order.tolist():
                panels += [self._panel(k), *self._bar(k)]
        stack = 1 if self.alone or self._weights is None else 2
        high, wide = data.shape
        least = _LARGE if self.alone else _LEAST
        aspect = min(max(high / wide, 0.25), 2.5)
        return Picture(
            self._headline(),
            self._caption(),
            tuple(panels),
            self._notes(),
            self._legend(),
            matrix=self._table(),
            grid=(least, least * aspect + _TEXT),
            stack=stack,
            layers=data.dim,
            beside=self._beside(),
            twice=("show", "all" if self.alone else "one"),
        )

    # -- panels ---------------------------------------------------------------------------------
    def _panel(self, k: int, small: bool = False) -> Panel:
        data = self.data
        name, known = data.names[k], self._weights
        values: tuple[str, ...] = ()
        if known is not None and not small:
            values = (
                known.told(self.group, k),
                format_fixed(float(known.values[self.group, k]), 2, sign=True),
            )
        limits = data.limits
        if self.own or (small and self._faint(k)):
            low, high = data.own_limits[k].tolist()
            limits = (low, high) if high > low else data.limits
        mark = _image(
            data.values[k], limits, data.map_name, headed(name), Items("layer", np.array([k]), np.array([0]))
        )
        return _tile(mark, "" if small else headed(name), values)

    def _bar(self, k: int) -> tuple[Panel, ...]:
        """The weight of an image as a bar from zero, with its interval, on one scale for all."""
        known, g = self._weights, self.group
        if known is None:
            return ()
        ends = known.values[g] if known.intervals is None else known.intervals[g]
        most = float(np.nanmax(np.abs(ends), initial=0.0)) or 1.0
        value, color = float(known.values[g, k]), _color(known, g, k)
        marks: list[Mark] = [Bands([0.0, value], [-0.3, -0.3], [0.3, 0.3], 1.0, color=color)]
        if known.intervals is not None:
            ink = "control" if known.doubtful(g, k) else "text"
            marks.append(Line(known.intervals[g, k], [0.0, 0.0], 1.0, color=ink))
        marks.append(Line([0.0, 0.0], [-0.5, 0.5], 1.0, color="axis"))
        across = Axis(ticks=False, line=False, low=-most, high=most)
        up = Axis(ticks=False, low=-0.5, high=0.5)
        return (Panel(tuple(marks), across, up, height=_BAR, own=True, zoom="", lines=False),)

    def _means(self) -> list[Panel]:
        data = self.data
        if data.means is None:
            return []
        known = data.means[np.isfinite(data.means)]
        ends = (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)
        limits = ends if ends[1] > ends[0] else (ends[0], ends[0] + 1)
        titles = [f"Mean of {name}" for name in data.classes]
        told = f"{format_number(ends[0], 3)} to {format_number(ends[1], 3)}"
        return [
            _tile(_image(mean, limits, "tide", title, None), title, (told,))
            for mean, title in zip(data.means, titles, strict=True)
        ]

    # -- beside them ----------------------------------------------------------------------------
    def _beside(self) -> tuple[Inset | Facts, ...]:
        """The chosen image, what is known of it, the scores on it by class, and all weights."""
        data, k = self.data, self.chosen
        high, wide = data.shape
        name = headed(data.names[k])
        image = Picture(name, panels=(self._panel(k, small=True),))
        tall = _BESIDE * min(max(high / wide, 0.4), 1.6)
        parts: list[Inset | Facts] = [Inset(image, tall), self._facts(k)]
        if data.scores is not None and len(data.classes) > 1:
            parts.append(Inset(self._scores(k, data.scores[:, k]), 190.0))
        if self._weights is not None:
            parts.append(Inset(self._all_weights(self._weights), 220.0))
        return tuple(parts)

    def _faint(self, k: int) -> bool:
        """Whether little is seen of an image on the scale of all."""
        return float(np.abs(self.data.own_limits[k]).max()) < 0.3 * max(map(abs, self.data.limits))

    def _facts(self, k: int) -> Facts:
        data, known, rows = self.data, self._weights, []
        if known is not None:
            note = known.interval_text(self.group, k)
            weight = format_fixed(float(known.values[self.group, k]), 2, sign=True)
            rows.append((capital(known.label), weight, note))
        classes, codes = parted(data, self.group)
        if data.scores is not None and len(classes) == 2:
            scores = data.scores[:, k]
            judged = (codes >= 0) & np.isfinite(scores)
            share = separation(scores[judged], codes[judged] == 0)
            if share == share:
                rows.append((f"{classes[0]} or {classes[1]}", format_percent(share), "of pairs told apart"))
        rows.append(("Size", format_number(float(data.size[k]), 3), "root mean square"))
        return Facts(tuple(rows))

    def _scores(self, k: int, scores: np.ndarray) -> Picture:
        data = self.data
        classes, codes = parted(data, self.group)
        inks = _inks(classes, self._weights.names[self.group] if self._weights is not None else "")
        marks: list[Mark] = []
        curves = densities(scores, codes, classes)
        for curve in curves:
            ink = inks[classes.index(curve.name)]
            marks.append(Bands(curve.x, 0 * curve.y, curve.y, 0.22, color=ink))
            marks.append(Line(curve.x, curve.y, 1.8, color=ink, name=curve.name, read=_density_reader(curve)))
        panel = Panel(
            tuple(marks),
            Axis(f"score on {data.short_names[k]}", margin=0.0),
            Axis(ticks=False, low=0),
            reads="across",
            zoom="",
            lines=False,
        )
        keys = tuple(Key(name, inks[c]) for c, name in enumerate(classes))
        return Picture("Scores by class", panels=(panel,), legend=keys)

    def _all_weights(self, known: Weights) -> Picture:
        g, order = self.group, self.order
        values, places = known.values[g][order], np.arange(len(order))
        inks = tuple(_color(known, g, k) for k in order.tolist())
        read = tuple(
            f"{self.data.names[k]}: {known.label.lower()} {known.told(g, k)}" for k in order.tolist()
        )
        marks: list[Mark] = [Rule([0.0], "y", dashed=False, color="axis")]
        marks.append(Intervals(places, np.minimum(values, 0), np.maximum(values, 0), 1.0, color=inks))
        if known.intervals is not None:
            low, high = known.intervals[g][order].T
            marks.append(Intervals(places, low, high, 2.0, color=inks))
        marks.append(Points(places, values, 8.0, color=inks, of=Items("layer", order), read=read))
        names = tuple(self.data.names[k] for k in order.tolist())
        short = tuple(self.data.short_names[k] for k in order.tolist())
        across = Axis(self.data.word, scale="category", names=names, short=short)
        told = f"{known.label.lower()}, interval" if known.intervals is not None else known.label.lower()
        panel = Panel(tuple(marks), across, Axis(told, zero=True), reads="across", zoom="")
        return Picture("All weights", panels=(panel,))

    # -- words ----------------------------------------------------------------------------------
    def _headline(self) -> str:
        data, known, g = self.data, self._weights, self.group
        total, words = len(data.values), plural(data.word)
        if known is None or known.intervals is None:
            high, wide = data.shape
            return f"{format_count(total)} {words} as images of {high} × {wide}"
        sure = sum(not known.doubtful(g, k) for k in range(total))
        verb = agree(sure, "helps", "help")
        goal, name = "to tell the classes apart", known.names[g]
        if len(data.classes) == 2:
            goal = f"to tell {data.classes[0]} from {data.classes[1]}"
        elif name:
            goal = f"to tell {name} from the others"
        if not sure:  # together they may
            return f"No {data.word} alone is sure to help {goal}"
        return f"{format_count(sure)} of {format_count(total)} {words} {verb} {goal}"

    def _caption(self) -> str:
        known = self._weights
        if known is not None and known.intervals is not None:
            return f"One counts as helping when the interval of its {known.label.lower()} leaves out zero."
        return self.data.doc

    def _notes(self) -> str:
        data = self.data
        if self.alone:
            return (
                f"{headed(data.names[self.chosen])} beside the mean image of each class"
                if self._means()
                else ""
            )
        count = f"{format_count(len(data.values))} {plural(data.word)} by {_ORDERS[self.order_by].lower()}"
        if self._weights is None:
            return count
        line = ", line: its interval" if self._weights.intervals is not None else ""
        return f"{count}; bar below: {self._weights.label.lower()}{line}"

    def _legend(self) -> tuple[Key | Ramp, ...]:
        data, known = self.data, self._weights
        keys: list[Key | Ramp] = []
        if known is not None and not self.alone:
            for color, text in zip((_POSITIVE, _NEGATIVE), sides(data, self.group), strict=True):
                keys.append(Key(text, color))
            if known.intervals is not None:
                keys.append(Key("interval holds zero", "neutral"))
        missing = not np.isfinite(data.values).all()
        if self.own:
            ends = ("−", "0", "+") if data.signed else ("least", "", "most")
            ramp = Ramp(f"{data.label.lower()}, a scale for each", data.map_name, ends)
            keys += [Key("left out", "border", "missing")] if missing else []
            return (*keys, ramp)
        return (*keys, *Shades(data.map_name, data.limits, data.clipped).keys(data.label.lower(), missing))

    def _table(self) -> Matrix:
        """A row an image, in the order shown: weights, intervals and size, then its pixels line by line."""
        data, known = self.data, self._weights
        titles: list[str] = []
        columns: list[np.ndarray] = []
        if known is not None:
            label = capital(known.label)
            for g, name in enumerate(known.names):
                title = f"{label}, {name}" if len(known.names) > 1 else label
                titles.append(title)
                columns.append(known.values[g])
                if known.intervals is not None:
                    titles += [f"{title}, low", f"{title}, high"]
                    columns += list(known.intervals[g].T)
        high, wide = data.shape
        titles += ["Size", *(f"Row {i + 1}, column {j + 1}" for i in range(high) for j in range(wide))]
        flat = data.values.reshape(len(data.values), -1)
        values = np.column_stack([*columns, data.size, flat])[self.order]
        names = tuple(data.names[k] for k in self.order.tolist())
        return Matrix(values, names, tuple(titles), capital(data.word))


def _image(
    values: np.ndarray, limits: tuple[float, float], map_name: str, title: str, of: Items | None
) -> Image:
    """An image whose first row is the highest."""
    high, wide = values.shape

    def read(piece: int) -> str:
        row, column = divmod(piece, wide)
        number = float(values[row, column])
        text = format_number(number, 3) if number == number else "left out"
        return f"{title}, row {row + 1}, column {column + 1}: {text}"

    ends = (-0.5, wide - 0.5, -0.5, high - 0.5)
    return Image(values, *ends, map_name, limits, name=title, read=read, called=lambda piece: title, of=of)


def _tile(mark: Image, title: str, values: tuple[str, ...] = ()) -> Panel:
    """An image under its name, always whole."""
    bare: dict[str, Any] = {"ticks": False, "line": False, "margin": 0.0}
    up = Axis(**bare, down=True)
    return Panel((mark,), Axis(**bare), up, title, values, equal=True, reads="inside", zoom="", lines=False)


def _color(known: Weights, g: int, k: int) -> int | str:
    """Colour of a weight: by its sign, neutral when its interval holds zero."""
    if known.doubtful(g, k) or not np.isfinite(known.values[g, k]):
        return "neutral"
    return _POSITIVE if known.values[g, k] > 0 else _NEGATIVE


def _inks(classes: tuple[str, ...], positive: str) -> tuple[int | str, ...]:
    """Colours of classes: as those of the weights that speak for them."""
    if len(classes) == 2 and positive == classes[1]:
        return _NEGATIVE, _POSITIVE
    return tuple(_OTHERS[c] if c < len(_OTHERS) else "neutral" for c in range(len(classes)))


def _density_reader(curve: Any) -> Any:
    told = f"{curve.name}: median {format_fixed(curve.median, 2)}, {counted(curve.count, 'item')}"
    return lambda piece: told
