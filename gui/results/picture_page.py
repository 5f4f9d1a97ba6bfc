"""The page of every view that is a picture: headline, choices, canvas, notes, table, export."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from PySide6.QtCore import QRect, Qt, QTimer
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QMenu, QWidget
from shiboken6 import isValid

from plaidwork.core.draws.numbers import format_count
from plaidwork.core.findings.naming import findable
from plaidwork.core.pictures import Listing, Picture, Points, ViewChoice
from plaidwork.core.pictures.choices import TEXT
from plaidwork.core.views.drawing import picture_of
from plaidwork.core.views.sources import Sources
from plaidwork.gui.language import tr
from plaidwork.gui.pictures.canvas import PictureCanvas
from plaidwork.gui.pictures.finding import pieces_called, places_called
from plaidwork.gui.pictures.hits import Spot, mark_of, spots_of, text_of
from plaidwork.gui.results.beside_panel import BesidePanel
from plaidwork.gui.results.choice_row import ChoiceRow
from plaidwork.gui.results.choices import kept_choices
from plaidwork.gui.results.option_row import page_content
from plaidwork.gui.results.page import SKELETON_AFTER
from plaidwork.gui.results.printed_page import PrintedPage
from plaidwork.gui.results.show_data import Content, MatrixData
from plaidwork.gui.widgets import Label, scrolled

_AROUND = 40
"""Pixels around a place that has to be in view."""


class PicturePage(PrintedPage):
    """Shows what ``core/views`` draws for the kind of its view. What is chosen is drawn in the background."""

    def __init__(self, workbench: Any, run: Any, view: Any, parent: QWidget | None = None) -> None:
        self._asked: dict[str, Any] = dict(kept_choices(run.view_settings, view.group, view.title))
        self._of_chosen = False
        self._following, self._found_kind, self._sought, self._looked_for = True, "", "", ""
        self._selection = workbench.selection(run)
        super().__init__(workbench, run, view, parent)
        self.choices.follow(self.loaded_changed)  # one choice may have changed another
        self._selection.changed.connect(self._on_selection)

    def build(self) -> QWidget:
        self.chart, self.row = PictureCanvas(), ChoiceRow()
        self.chart.hovered.connect(self.hovered)
        self.chart.picked.connect(self.pick)
        self.chart.twice.connect(self._pick_twice)
        self.chart.moved.connect(self._move)
        self.chart.chosen.connect(self.choose)
        self._beside: BesidePanel | None = None
        self.chart.gathered.connect(self.gather)
        self.row.chosen.connect(self.choose)
        self._notes = Label("", "body", "muted", elide=True, lines=2)
        self._wait_before_notes = QTimer(self, singleShot=True, interval=SKELETON_AFTER)
        self._wait_before_notes.timeout.connect(lambda: self._set_notes("Computing the picture…"))
        area = scrolled(self.chart)
        self.chart.reached.connect(
            lambda at: area.ensureVisible(round(at.x()), round(at.y()), _AROUND, _AROUND)
        )
        return page_content(self.row, area, self._notes)

    # -- loading --------------------------------------------------------------------------------
    def load(self, sources: Sources) -> Picture:
        return picture_of(sources, self._asked, self._selected)

    def show_loaded(self, loaded: Picture) -> None:
        self._wait_before_notes.stop()
        if self.row.set_choices(loaded.choices):
            self.choices.adopt(self.row)
        if loaded.kept:
            of_kind = self.run.view_settings.setdefault(self.view.kind, {})
            of_kind[self.view.title] = dict(loaded.kept)
        self._show_beside(loaded)
        if not loaded.panels:
            self.show_state("search", *loaded.empty)
            return
        self.chart.set_picture(loaded)
        self._show_selected()
        if self._looked_for:
            text, self._looked_for = self._looked_for, ""
            named = next(iter(loaded.table.values()), ())
            self.tell_found(text, [str(name) for name in named])
        if self._sought:
            text, self._sought = self._sought, ""
            self.search(text)

    # -- beside it ------------------------------------------------------------------------------
    def side_panel(self) -> QWidget | None:
        """What the picture has beside it; None where that is nothing."""
        if self.loaded is None or not self.loaded.beside:
            return None
        if self._beside is None or not isValid(self._beside):
            self._beside = panel = BesidePanel()
            panel.setWindowTitle(tr(self.view.title))
            # the parts are filled anew, which must not happen while they tell what was selected
            queued = Qt.ConnectionType.QueuedConnection
            panel.chosen.connect(self._choose_row, queued)
            panel.picked.connect(self.pick, queued)
            panel.hovered.connect(self.hovered)
            panel.renamed.connect(self._name_row)
            panel.left.connect(self.leave)
            self.destroyed.connect(panel.deleteLater)  # it may live in a dock of the window
            panel.set_parts(self.loaded.beside, self.loaded.choices, self.names_given)
            panel.set_selected(self._selected)
        return self._beside

    def _show_beside(self, loaded: Picture) -> None:
        if self._beside is not None and isValid(self._beside):
            self._beside.set_parts(loaded.beside, loaded.choices, self.names_given)
        elif loaded.beside:
            self.panel_changed.emit()

    def _choose_row(self, number: int, row: int) -> None:
        parts = self.loaded.beside if self.loaded is not None else ()
        listing = parts[number] if number < len(parts) else None
        if not isinstance(listing, Listing):
            return
        if listing.of is not None and listing.of.shared and listing.of.of(row):
            self._selection.set(listing.of.kind, listing.of.of(row))
        if listing.choice is not None and row < len(listing.choice[1]):
            self.choose(listing.choice[0], listing.choice[1][row])

    def set_low(self, low: bool) -> None:
        super().set_low(low)
        self._show_notes()
        self.row.set_rows(1 if low else 2)

    def words_below(self) -> str:
        return self._with_count(self.loaded.notes) if self.loaded is not None and self.loaded.panels else ""

    def _set_notes(self, text: str) -> None:
        self._notes.setText(text)
        self._show_notes()

    def _show_notes(self) -> None:
        """In a low page only what is said of what is chosen."""
        self._notes.setVisible(bool(self._notes.text()) and (self._of_chosen or not self.low))

    def control(self, name: str) -> Any:
        """The control of one of the choices."""
        return self.row.control(name)

    def choose(self, name: str, value: object) -> None:
        """Draw the picture with another value of one of its choices, in the background.

        One whose values are items selects the item in all views of the run.
        """
        choice = self._choice(name)
        if self._asked.get(name) == value and (choice is None or choice.value == value):
            return
        asked = {name: value}
        other = self._choice(choice.unlike) if choice is not None else None
        if choice is not None and other is not None and self._asked.get(other.id, other.value) == value:
            asked[other.id] = self._asked.get(name, choice.value)
        for key, wanted in asked.items():
            self._ask(key, wanted)
        self._wait_before_notes.start()
        self.refresh()

    def _choice(self, name: str) -> ViewChoice | None:
        choices = self.loaded.choices if self.loaded is not None else ()
        return next((choice for choice in choices if choice.id == name), None)

    def _ask(self, name: str, value: object) -> None:
        choice = self._choice(name)
        title = choice.title if choice is not None else ""
        self._asked = {**{key: held for key, held in self._asked.items() if key != title}, name: value}
        item = choice.item_of(value) if choice is not None else None
        if choice is not None and item is not None:
            self._following = False
            self._selection.set(choice.of, (item,))
            self._following = True

    def _move(self, name: str, value: float, done: bool) -> None:
        """Follow a line that is dragged, as fast as the picture is drawn."""
        if done or not self.busy:
            self.choose(name, value)

    # -- selection and search -------------------------------------------------------------------
    def pick(self, kind: str, numbers: tuple[int, ...]) -> None:
        """Select the items of a mark in all views of the run; once more, or beside all marks, select nothing."""
        if kind in self._kinds():
            again = set(self._selection.get(kind)) == set(numbers)
            self._selection.set(kind, () if again else numbers)
        elif not kind:
            for one in self._kinds():
                self._selection.set(one, ())

    def _pick_twice(self, kind: str, numbers: tuple[int, ...]) -> None:
        if self.loaded is not None and self.loaded.twice is not None:
            self._selection.set(kind, numbers)  # which the first click may have let go
            self.choose(*self.loaded.twice)

    def gather(self, kind: str, items: tuple[int, ...], more: bool) -> None:
        """Select items in all views of the run, with ``more`` besides those selected; a single one of these is let go."""
        if kind in self._kinds():
            before = set(self._selection.get(kind)) if more else set()
            together = before ^ {*items} if len(items) == 1 else before | {*items}
            self._selection.set(kind, tuple(sorted(together)))

    def _kinds(self) -> list[str]:
        """Kinds of items that the picture's marks stand for, and that are selected in all views."""
        panels = self.loaded.panels if self.loaded is not None else ()
        return sorted({kind for panel in panels for mark in panel.marks for kind in mark.kinds})

    @property
    def _selected(self) -> dict[str, tuple[int, ...]]:
        return {
            kind: self._selection.get(kind)
            for kind in dict.fromkeys((*self._selection.kinds, *self._kinds()))
        }

    def _on_selection(self, kind: str) -> None:
        """Show what is selected, in the picture of the item where that is a choice."""
        chosen = self._selection.get(kind)
        for choice in self.loaded.choices if self.loaded is not None and self._following else ():
            value = choice.value_of(chosen[0]) if choice.of == kind and len(chosen) == 1 else None
            follows = choice.opens or choice.item_of(choice.value) is not None
            if value is not None and follows and choice.value != value:
                self.choose(choice.id, value)
        self._show_selected()

    def _show_selected(self) -> None:
        chosen = self._selected
        self.chart.set_selected(chosen)
        if self._beside is not None and isValid(self._beside):
            self._beside.set_selected(chosen)
        if self.loaded is not None and self.loaded.panels:
            words = self._words_of(chosen)
            self._of_chosen = bool(words)
            self._set_notes(words or self._with_count(self.loaded.notes))

    def _with_count(self, notes: str) -> str:
        """The notes, and how many items of points are selected."""
        marks = (mark for panel in self.loaded.panels for mark in panel.marks if isinstance(mark, Points))
        kinds = {kind for mark in marks for kind in mark.kinds}
        count = sum(len(self._selection.get(kind)) for kind in kinds)
        return "; ".join(filter(None, (notes, f"{format_count(count)} selected" if count else "")))

    def _words_of(self, chosen: Mapping[str, tuple[int, ...]]) -> str:
        """What the last mark that stands for the only item selected says of it."""
        only = [(kind, items) for kind, items in chosen.items() if len(items) == 1 and kind in self._kinds()]
        if len(only) != 1:
            return ""
        spots = list(spots_of(self.loaded, only[0][0], frozenset(only[0][1])))
        texts = [text_of(self.loaded, spot) for spot in spots]
        return next((text for text in reversed(texts) if text), "")

    def search(self, text: str) -> list[str] | None:
        """Choose what is called so, select the points of that name, or go to the first mark whose words hold the text."""
        if self.loaded is None or self.state:
            return []
        words = next((choice for choice in self.loaded.choices if choice.kind == TEXT), None)
        if words is not None:
            self._looked_for = text
            self.choose(words.id, text)
            return None
        wanted = text.casefold()
        self.chart.point_out(places_called(self.loaded, wanted) if text else {})
        if not text:
            self._let_go()
            return []
        for choice in self.loaded.choices:
            hits = [(key, name) for key, name in choice.options if wanted in findable(name)]
            if choice.searched and hits:
                self.choose(choice.id, hits[0][0])
                return [name for _, name in hits]
        if self._grow(wanted, text):
            return [name for name in self.loaded.more[1] if wanted in findable(name)]
        found = pieces_called(self.loaded, wanted)
        if found and not self._select_found([spot for spot, _ in found]):
            self.chart.show_spot(found[0][0])
            items = mark_of(self.loaded, found[0][0]).items(found[0][0].piece)
            if items is not None and items[0] == "layer":
                self._selection.set("layer", items[1])
        return [words for _, words in found]

    def _grow(self, wanted: str, text: str) -> bool:
        """Show more items when the first whose name holds a text is not among them; it is selected once they are there."""
        name, numbers = self.loaded.more
        hits = [number for called, number in numbers.items() if wanted in findable(called)]
        choice = self._choice(name)
        if choice is None or not hits or not choice.value < min(hits) <= choice.high:
            return False
        self._sought = text
        self.choose(name, float(min(hits)))
        return True

    def _select_found(self, spots: list[Spot]) -> bool:
        """Select the items of marks whose pieces have names; False when there are none."""
        marks = [(mark_of(self.loaded, spot), spot.piece) for spot in spots]
        items = [mark.items(piece) for mark, piece in marks if mark.called is not None]
        found = [item for item in items if item is not None and item[0] in self._kinds()]
        if found:
            self._found_kind = found[0][0]
            self._selection.set(self._found_kind, sorted({n for _, numbers in found for n in numbers}))
            self.chart.reach(spots[0])
        return bool(found)

    def _let_go(self) -> None:
        """Select nothing of what a search has found."""
        if self._found_kind:
            self._selection.set(self._found_kind, ())
            self._found_kind = ""

    def leave(self) -> bool:
        """Show all, then what is shown at first of what marks choose, then select nothing."""
        if self.chart.zoomed:
            self.chart.reset_view()
            return True
        panels = self.loaded.panels if self.loaded is not None else ()
        by_marks = {mark.choice[0] for panel in panels for mark in panel.marks if mark.choice is not None}
        for choice in self.loaded.choices if self.loaded is not None else ():
            if choice.id in by_marks and choice.options and choice.value != choice.options[0][0]:
                for kind in self._kinds():
                    self._selection.set(kind, ())
                self.choose(choice.id, choice.options[0][0])
                return True
        chosen = [kind for kind in self._kinds() if self._selection.get(kind)]
        for kind in chosen:
            self._selection.set(kind, ())
        return bool(chosen)

    # -- what can be given a name ---------------------------------------------------------------
    def layer_dim(self, sources: Sources) -> str:
        return self.loaded.layers if self.loaded is not None else ""

    def chosen_layer(self) -> int | None:
        """The one shown, chosen by the user or not."""
        choice = self._layer_choice
        return super().chosen_layer() if choice is None else choice.item_of(choice.value)

    @property
    def _layer_choice(self) -> ViewChoice | None:
        """The choice of which factor, block or topic is shown."""
        choices = self.loaded.choices if self.loaded is not None else ()
        return next((choice for choice in choices if choice.of == "layer"), None)

    def name_place(self, number: int) -> tuple[QWidget, QRect]:
        choice = self._layer_choice
        if choice is None or not (control := self.control(choice.id)).isVisible():
            return super().name_place(number)
        return control, control.rect()

    def edit_listed(self, number: int) -> bool:
        return self._beside is not None and isValid(self._beside) and self._beside.edit_name(number)

    def _name_row(self, part: int, row: int, name: str) -> None:
        listing = self.loaded.beside[part] if self.loaded is not None else None
        if isinstance(listing, Listing) and listing.of is not None:
            self.name_layer(listing.of.of(row)[0], name)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """As the base; [ and ] step through the factors, blocks or topics of which one is shown."""
        step = {Qt.Key.Key_BracketLeft: -1, Qt.Key.Key_BracketRight: 1}.get(Qt.Key(event.key()), 0)
        number = self.chosen_layer() if step else None
        choice = self._layer_choice if step else None
        if choice is None or number is None or str(number + step) not in dict(choice.options):
            super().keyPressEvent(event)
        else:
            self.choose(choice.id, str(number + step))

    def fill_menu(self, menu: QMenu) -> None:
        """Whole again after a zoom, and what else can be written of the picture."""
        menu.addAction(tr("Show all\t0"), self.chart.reset_view).setEnabled(self.chart.zoomed)
        for file in self.loaded.files if self.loaded is not None else ():
            menu.addAction(tr(file.title), partial(self.ask_file, file))

    # -- words and files ------------------------------------------------------------------------
    def default_headline(self) -> str:
        return self.loaded.headline if self.loaded else self.view.title

    def default_caption(self) -> str:
        return self.loaded.caption if self.loaded else ""

    def shown_picture(self) -> Picture | None:
        """What was drawn last."""
        return self.loaded

    def data_content(self) -> tuple[Content, Mapping[str, Callable[[Any], str]]]:
        matrix = self.loaded.matrix
        if matrix is not None:
            return MatrixData(matrix.values, matrix.rows, matrix.columns, matrix.corner), {}
        return dict(self.loaded.table), dict(self.loaded.formats)
