"""What may be chosen of a view: declared where it is used, so that window, sessions and scripts offer the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from plaidwork.core.errors import PictureError

FEW, LIST, MANY, NUMBER, FLAG, TEXT = "few", "list", "many", "number", "flag", "text"


@dataclass(frozen=True)
class ViewChoice:
    """One thing that may be chosen of a view, and what is chosen.

    Attributes
    ----------
    id : its name for scripts. title : the word beside it, under which a session keeps what was chosen.
    kind : "few" values side by side, a "list" of values, "many" in sections, a "number" in steps, a "flag", or a "text",
        which a search in the view fills in.
    value : what is chosen: an id among ``options``, a number, whether the flag is set, or the text.
    options : id and text of every value of "few" and "list".
    low, high, step : of a "number". searched : whether a search in the view may choose among the texts.
    sections : of "many": head of a section and how many values are in it, in order.
    of : kind of the items whose numbers are values: to choose one selects it in all views of the run, and the other way
        round; a value that is no number, as all of them, stays.
    stands : which item each value is, where it is not that of its number.
    opens : whether an item that is selected elsewhere is chosen while all are shown, too.
    each : what one of the values is, where the title is no such word: pictures side by side are called by it.
    unlike : id of another choice of the same values, which takes this one's value when this one takes its.
    """

    id: str
    title: str
    kind: str
    value: Any
    options: tuple[tuple[str, str], ...] = ()
    low: float = 0.0
    high: float = 1.0
    step: float = 1.0
    searched: bool = False
    sections: tuple[tuple[str, int], ...] = ()
    of: str = ""
    unlike: str = ""
    stands: Mapping[str, int] = field(default_factory=dict)
    opens: bool = False
    each: str = ""

    def item_of(self, value: object) -> int | None:
        """The item that a value is; None of all others, as of all of them."""
        if self.stands:
            return self.stands.get(str(value))
        return int(str(value)) if self.of and str(value).isdigit() else None

    def value_of(self, item: int) -> str | None:
        """The value that is an item; None where none is."""
        if self.stands:
            return next((value for value, number in self.stands.items() if number == item), None)
        return str(item) if str(item) in dict(self.options) else None

    @property
    def text(self) -> str:
        """Text of the value that is chosen."""
        return dict(self.options).get(self.value, str(self.value))


class ViewChoices:
    """Handed to the ``load`` of a view, which asks it for every choice that it offers; each question declares the choice.

    ``asked`` holds what somebody has chosen, by id or title of the choice and by id or text of the value. What is not
    offered now gives way to the default. ``selected`` holds the items that are selected in the run, by kind. ``kept`` is
    what the session keeps of the view, as of a layout that is not to change (JSON): a view reads it and may put another one
    in its place.
    """

    def __init__(
        self,
        asked: Mapping[str, Any] | None = None,
        selected: Mapping[str, tuple[int, ...]] | None = None,
        kept: Mapping[str, Any] | None = None,
    ) -> None:
        self._asked, self._selected = dict(asked or {}), dict(selected or {})
        self.kept: dict[str, Any] = dict(kept or {})
        self._declared: dict[str, ViewChoice] = {}

    @property
    def declared(self) -> tuple[ViewChoice, ...]:
        """All that was asked for so far, in that order, with the values in force."""
        return tuple(self._declared.values())

    def _declare(self, choice: ViewChoice) -> Any:
        if choice.id in self._declared:
            raise PictureError(f"The choice “{choice.id}” is offered twice.")
        self._declared[choice.id] = choice
        return choice.value

    def _wanted(self, name: str, title: str) -> Any:
        return self._asked.get(name, self._asked.get(title))

    def pick(
        self,
        name: str,
        title: str,
        options: Sequence[tuple[str, str]],
        default: str = "",
        *,
        kind: str = FEW,
        searched: bool = False,
        of: str = "",
        unlike: str = "",
        sections: Sequence[tuple[str, int]] = (),
        stands: Mapping[str, int] | None = None,
        opens: bool = False,
        each: str = "",
    ) -> str:
        """The id of one of a few values; ``options`` are their ids and texts, the first is the default if none is given."""
        values = tuple((str(key), str(text)) for key, text in options)
        keys = dict(values)
        if not keys or len(keys) < len(values):
            raise PictureError(f"The choice “{name}” needs values that differ. Found {[*keys]}.")
        wanted = self._wanted(name, title)
        by_text = {text: key for key, text in reversed(values)}
        fallback = default if default in keys else values[0][0]
        chosen = wanted if wanted in keys else by_text.get(wanted, fallback)
        choice = ViewChoice(
            name,
            title,
            kind,
            chosen,
            values,
            searched=searched,
            of=of,
            unlike=unlike,
            stands=stands or {},
            each=each,
        )
        linked = self._selected.get(of, ()) if of else ()
        if len(linked) == 1 and (choice.item_of(chosen) is not None or (opens and wanted is None)):
            chosen = choice.value_of(linked[0]) or chosen
        other = self._declared.get(unlike)
        if other is not None and other.value == chosen:
            chosen = next((key for key in (fallback, *keys) if key != chosen), chosen)
        return str(self._declare(replace(choice, value=chosen, sections=tuple(sections), opens=opens)))

    def among(
        self,
        name: str,
        title: str,
        texts: Sequence[str],
        default: int = 0,
        *,
        searched: bool = False,
        of: str = "",
        unlike: str = "",
        each: str = "",
    ) -> int:
        """The number of one of several texts, as of the classes of a model; a single one is not offered."""
        if len(texts) < 2:
            return 0
        options = [(str(k), text) for k, text in enumerate(texts)]
        return int(
            self.pick(
                name,
                title,
                options,
                str(default),
                kind=LIST,
                searched=searched,
                of=of,
                unlike=unlike,
                each=each,
            )
        )

    def find(
        self,
        name: str,
        title: str,
        sections: Mapping[str, Sequence[str]],
        default: str = "",
        *,
        of: str = "",
    ) -> str:
        """One of many texts in sections, which are found by typing parts of them; with ``of`` its number, as that of an item."""
        options: dict[str, str] = {}
        counts = []
        for head, texts in sections.items():
            before = len(options)
            for text in texts:  # the same words mean the same, unless they are names of items
                options.setdefault(str(len(options)) if of else str(text), str(text))
            counts.append((head, len(options) - before))
        return self.pick(name, title, [*options.items()], default, kind=MANY, of=of, sections=counts)

    def number(
        self, name: str, title: str, low: float, high: float, default: float, step: float = 1.0
    ) -> float:
        """A number from ``low`` to ``high`` in steps."""
        if not low < high or step <= 0:
            raise PictureError(f"The choice “{name}” goes from {low} to {high} in steps of {step}.")
        wanted = self._wanted(name, title)
        known = isinstance(wanted, int | float) and not isinstance(wanted, bool) and wanted == wanted
        value = min(max(float(wanted if known else default), low), high)
        value = round(low + round((value - low) / step) * step, 12)
        choice = ViewChoice(name, title, NUMBER, value, low=low, high=high, step=step)
        return float(self._declare(choice))

    def flag(self, name: str, title: str, default: bool = False) -> bool:
        """Whether something is shown."""
        wanted = self._wanted(name, title)
        return bool(
            self._declare(
                ViewChoice(name, title, FLAG, wanted if isinstance(wanted, bool) else bool(default))
            )
        )

    def text(self, name: str, title: str) -> str:
        """Words that somebody looks for; empty at first."""
        wanted = self._wanted(name, title)
        return str(self._declare(ViewChoice(name, title, TEXT, wanted if isinstance(wanted, str) else "")))
