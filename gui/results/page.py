"""A result page: headline, options, picture and foot of one view of a run, and its states."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import QPoint, QRect, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QContextMenuEvent, QImage, QKeyEvent, QPalette
from PySide6.QtWidgets import QMenu, QStackedLayout, QWidget

from plaidwork.core.contract.spec import View
from plaidwork.core.errors import PlaidworkError, PluginError
from plaidwork.core.inference.run import Run
from plaidwork.core.refusals import unwritten
from plaidwork.core.views.explaining import explained
from plaidwork.core.views.printing import words_above
from plaidwork.core.views.sources import NotYet, SourceError, Sources
from plaidwork.gui.icons import icon
from plaidwork.gui.language import tr
from plaidwork.gui.pictures.canvas import PictureCanvas
from plaidwork.gui.results.choices import Choices, kept_choices
from plaidwork.gui.results.doubt_mark import DoubtMark
from plaidwork.gui.results.figure import Figure, figure_image, write_figure
from plaidwork.gui.results.find_row import FindRow
from plaidwork.gui.results.low_room import LowRoom
from plaidwork.gui.results.option_row import RING
from plaidwork.gui.results.renaming import Renaming
from plaidwork.gui.results.selection_menu import offer_selection
from plaidwork.gui.results.show_data import Content, DataDialog, copy_text
from plaidwork.gui.results.solution_choice import SolutionChoice
from plaidwork.gui.results.stated import Stated, still_running
from plaidwork.gui.save_path import PICTURES, ask_save_path, proposed_name
from plaidwork.gui.tasks import Task
from plaidwork.gui.theme import space, theme
from plaidwork.gui.widgets import Label, Skeleton, StatePane, tool_button
from plaidwork.gui.widgets.layouts import STRETCH, horizontal, vertical
from plaidwork.gui.workbench import DIAGNOSTICS, Workbench

SKELETON_AFTER = 300
"""Milliseconds before the shape of what comes is shown."""


class ResultPage(LowRoom, Renaming, Stated):
    """Base of all result pages.

    Subclasses override `load` (worker thread: sources to what is drawn), `build` (widgets below the head, once) and
    `show_loaded` (GUI thread). The page loads by itself, and again when the run has new results.

    Signals
    -------
    loaded_changed : a picture or a state has been put up
    """

    loaded_changed = Signal()
    icon_name = "chart"
    canvas: PictureCanvas | None = None
    """The matrix that is the picture, on pages of which it is."""
    offers = frozenset({"export_picture", "show_data", "find_in_page"})

    def __init__(self, workbench: Workbench, run: Run, view: View, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.workbench, self.run, self.view = workbench, run, view
        self.loaded: Any = None
        self._task: Task | None = None
        self._left_out: tuple[str, ...] = ()
        self._solution_captions: tuple[str, ...] = ()
        self.setBackgroundRole(QPalette.ColorRole.Base)
        self.setAutoFillBackground(True)
        self.setAccessibleName(tr(view.title))
        self._build_frame()
        kept = kept_choices(run.view_settings, view.group, view.title)
        self.choices = Choices(kept, workbench.note_view, self)
        self.choices.adopt(self._content)
        self.choices.follow(workbench.selection(run).changed)
        workbench.selection(run).changed.connect(self._offer_words)
        self.loaded_changed.connect(self._offer_words)
        self._wait_before_skeleton = QTimer(self, singleShot=True, interval=SKELETON_AFTER)
        self._wait_before_skeleton.timeout.connect(lambda: self._stack.setCurrentWidget(self._skeleton))
        workbench.results_changed.connect(self._on_results)
        workbench.run_changed.connect(self._on_run)
        workbench.names_changed.connect(self._on_names)
        workbench.editing.changed.connect(self._offer_words)
        theme().changed.connect(self.restyle)
        self._update_chip()
        self.refresh()

    # -- for subclasses -------------------------------------------------------------------------
    def build(self) -> QWidget:
        """The widgets below the head: option row, picture, foot."""
        raise NotImplementedError

    def load(self, sources: Sources) -> Any:
        """Worker thread: resolve and compute. ``SourceError`` says why there is no picture."""
        raise NotImplementedError

    def first_look(self, sources: Sources) -> Any:
        """Worker thread: what is shown until what takes over a second is loaded; None where that is not so."""
        return None

    def show_loaded(self, loaded: Any) -> None:
        """Put what was loaded into the widgets; call `show_state` when nothing was found."""
        raise NotImplementedError

    def default_headline(self) -> str:
        """Used when the model gives none."""
        return self.view.title

    def default_caption(self) -> str:
        """Used when the model gives none."""
        return ""

    def data_content(self) -> tuple[Content, Mapping[str, Callable[[Any], str]]]:
        """Columns (or a matrix) behind the picture, with formats."""
        raise NotImplementedError

    def figure_parts(self) -> Sequence[Sequence[QWidget]]:
        """Rows of widgets that make the exported picture."""
        return [[self._content]]

    def on_paper(self, size: QSize, scale: float) -> QImage | None:
        """The picture without controls, ``size`` logical pixels at ``scale`` each; None when the page is shown as it is."""
        return None

    def put_on_paper(self) -> None:
        """All words above, and nothing that only a window needs, for a page that is drawn once in its size and not used again."""
        self.keep_words()
        for label in (self._headline, self._caption):
            label.show_whole()
            policy = label.sizePolicy()
            policy.setHorizontalStretch(100)  # the room beside it is not kept
            label.setSizePolicy(policy)
        for button in self.head_buttons:
            button.hide()  # the words above take their room

    def fill_menu(self, menu: QMenu) -> None:
        """Entries of the ··· menu besides the common ones."""

    def search(self, text: str) -> list[str] | None:
        """Go to the best match of a search; the names that match, or None where they are told once they are found."""
        return []

    def leave(self) -> bool:
        """Esc: leave one level, as from a part to the whole; False when there is nothing to leave."""
        return False

    def adopt_panel(self, panel: QWidget) -> None:
        """Keep what is chosen in the side panel too; called once the panel is in its dock."""
        self.choices.adopt(panel)
        if self.loaded is not None:
            self.choices.restore()

    # -- frame ----------------------------------------------------------------------------------
    def _build_frame(self) -> None:
        self._headline = Label(self.view.title, "title", elide=True, lines=2)
        self._caption = Label("", "body", "muted", elide=True, lines=2)
        self._doubt = DoubtMark()
        self._doubt.clicked.connect(lambda: self.workbench.page_requested.emit(self.run.id, DIAGNOSTICS))
        self._solution = SolutionChoice(self.workbench, self.run)
        self._solution.chosen.connect(self.refresh)
        self._find_button = tool_button("search", "Find in this view (Ctrl+F)", self.find_in_page)
        self._pencil = tool_button("pencil", "Rename (F2)", self.rename_item)
        self._note = tool_button("note", "", self.note_item)
        for one in (self._pencil, self._note):
            one.hide()
        self.head_buttons = [
            self.words_button(),
            self._find_button,
            tool_button("export", "Export picture… (Ctrl+E)", self.ask_export),
            tool_button("table", "Show data (Ctrl+D)", self.show_data),
            tool_button("more", "More", self._show_menu),
        ]
        title_row = horizontal(self._headline, self._doubt, STRETCH, spacing=space.S)
        texts = vertical(title_row, self._caption, spacing=2)
        self.find_row = FindRow()
        self.find_row.asked.connect(self._search)
        self.find_row.closed.connect(self.close_find)
        self._content = self.build()
        self._skeleton = Skeleton(6, 3)
        self._pane = StatePane("clock", "")
        self._stack_holder = QWidget()
        self._stack = QStackedLayout(self._stack_holder)
        for page in (self._content, self._skeleton, self._pane):
            self._stack.addWidget(page)
        head = horizontal(
            (texts, 1),
            space.S,
            self._solution,
            self._pencil,
            self._note,
            *self.head_buttons,
            spacing=space.XS,
            margins=(RING, 0, RING, 0),
        )
        vertical(
            head,
            self.find_row,
            (self._stack_holder, 1),
            on=self,
            spacing=space.M,
            margins=(space.VIEW_EDGE - RING, space.L, space.VIEW_EDGE - RING, space.M),
        )
        self._blank = QWidget()
        self._stack.addWidget(self._blank)
        self._stack.setCurrentWidget(self._blank)

    # -- loading --------------------------------------------------------------------------------
    def refresh(self) -> None:
        """Load again in the background; the old picture stays until the new one is there."""
        if self._task is not None:
            self._task.cancel()
        sources, number, captions = self.new_sources(), self._solution.number, self._solution.captions()
        if self._stack.currentWidget() is not self._content:
            self._wait_before_skeleton.start()

        def load(task: Task, looks: bool = False) -> tuple[Sources, Any, tuple[tuple[str, ...], ...]]:
            task.check()  # another one may have been asked for while this one waited
            shown = sources.of_run(self.run.solution(number)) if number else sources
            with explained(shown):
                return shown, (self.first_look if looks else self.load)(shown), (captions, shown.parts())

        def go_on(first: tuple[Sources, Any, tuple[tuple[str, ...], ...]]) -> None:
            self._task = self.start(load, self._done, self._failed)
            if first[1] is not None:
                self._done(first)

        if self.loaded is None and type(self).first_look is not ResultPage.first_look:
            self._task = self.start(partial(load, looks=True), go_on, self._failed)
        else:
            self._task = self.start(load, self._done, self._failed)

    def new_sources(self) -> Sources:
        """The results, data and names of the run as they are now."""
        return Sources(self.workbench.session, self.run, self.view, self.workbench.registry)

    def _done(self, outcome: tuple[Sources, Any, tuple[tuple[str, ...], ...]]) -> None:
        sources, self.loaded, (self._solution_captions, self._left_out) = outcome
        self._wait_before_skeleton.stop()
        self._sources = sources
        try:
            self._stack.setCurrentWidget(self._content)
            with explained(sources):
                with self.choices.quiet():
                    self.show_loaded(self.loaded)
                self.choices.restore()
                self.update_head()
        except Exception as error:
            import traceback

            self._failed(error, traceback.format_exc())
            return
        self.loaded_changed.emit()

    def _failed(self, error: BaseException, details: str) -> None:
        self._wait_before_skeleton.stop()
        self.loaded = None
        if isinstance(error, NotYet):
            self.show_nothing_yet()
        elif isinstance(error, SourceError):
            cause = error.__cause__
            expected = cause is None or (
                isinstance(cause, PlaidworkError) and not isinstance(cause, PluginError)
            )
            self.show_failure(str(error), "" if expected else details)
        elif isinstance(error, PluginError):
            report = error.fault.report if error.fault is not None else details
            self.show_failure(error.message, report, error.plugin)
        else:
            self.show_failure(f"{type(error).__name__}: {error}", details)

    def update_head(self) -> None:
        """Headline and caption from the results, or the page's own."""
        headline, caption = self.default_headline(), self.default_caption()
        if self._sources is not None:
            headline, caption = words_above(self._sources, headline, caption, self._left_out)
        self.set_head(headline, caption)

    def set_head(self, headline: str, caption: str) -> None:
        """Show these words above the picture, after what is shown of several solutions."""
        caption = ". ".join(filter(None, (*self._solution_captions, caption)))
        self._headline.setText(headline)
        self._caption.setText(caption)
        self.show_caption()
        self.setAccessibleDescription(tr(f"{headline}. {caption}"))

    def _on_results(self, run_id: str) -> None:
        if run_id == self.run.id:
            self.refresh()

    def _on_run(self, run_id: str) -> None:
        if run_id == self.run.id:
            self._update_chip()
            if self._stack.currentWidget() is self._pane and not self.run.results:
                self.refresh()

    def _on_names(self, run_id: str) -> None:
        if run_id == self.run.id:
            self.refresh()

    def _update_chip(self) -> None:
        self._doubt.tell(self.workbench, self.run, still_running(self.run))

    def restyle(self) -> None:
        """The theme has changed; most widgets follow by themselves."""
        self.update()

    def _offer_words(self) -> None:
        found = self.found_item() is not None
        self._pencil.setVisible(found)
        self._note.setVisible(found)
        written = found and self.has_note
        tip = "Read or change the notes on what is chosen" if written else "Write notes on what is chosen"
        self._note.setIcon(icon("note", "accent" if written else "text"))
        self._note.setToolTip(tr(f"{tip} (Ctrl+M)"))
        self._note.setAccessibleName(tr(tip))

    def name_place(self, number: int) -> tuple[QWidget, QRect]:
        return self._headline, self._headline.rect()

    # -- actions --------------------------------------------------------------------------------
    def find_in_page(self) -> None:
        """Open the search line."""
        self.find_row.open()

    def close_find(self) -> None:
        """Close the search line."""
        self.find_row.close_empty()
        self.search("")

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Esc closes the search, then leaves one level."""
        if event.key() != Qt.Key.Key_Escape:
            super().keyPressEvent(event)
        elif not self.find_row.isHidden():
            self.close_find()
        elif not self.leave():
            super().keyPressEvent(event)

    def _search(self, text: str) -> None:
        hits = self.search(text)
        self.tell_found(text if hits is not None else "", hits or ())

    def tell_found(self, text: str, hits: Sequence[str]) -> None:
        """Say beside the search line what it has found."""
        self.find_row.tell(text, hits)

    def show_data(self) -> QWidget | None:
        """Open the table behind the picture in a window; None when there is no picture."""
        if self.loaded is None:
            return None
        content, formats = self.data_content()
        dialog = DataDialog(self.view.title, content, formats, self)
        dialog.show()
        return dialog

    def figure(self) -> Figure:
        """What is exported."""
        parts = [[self._pane]] if self.state else self.figure_parts()
        return Figure(self._headline.text(), self._caption.text(), parts)

    def export_picture(self, path: str | Path) -> Path:
        """Write the picture as PNG (2x), SVG or PDF, by the ending. Raises ``OSError`` or ``ValueError``."""
        return write_figure(self.figure(), path)

    def file_name(self, suffix: str, what: str = "") -> str:
        """A name for a file of this view: session, run, and the view or ``what`` else is written."""
        session = self.workbench.session.name
        return proposed_name(session, self.run.title, what or self.view.title, suffix=suffix)

    def ask_export(self) -> None:
        """Ask for a file and export the picture."""
        dialog = self.export_dialog(Path(self.file_name("")))
        if dialog is not None:
            dialog.written.connect(self._tell_exported)
            dialog.open()
            return
        path = ask_save_path(self, "Export picture", self.file_name(".png"), PICTURES)
        if path is None:
            return
        try:
            self.export_picture(path)
        except (OSError, ValueError) as error:
            self.workbench.notified.emit("error", "Could not export the picture", unwritten(error), "")
        else:
            self._tell_exported(path)

    def _tell_exported(self, path: Path) -> None:
        self.workbench.notified.emit("ok", f"Exported {path.name}", "", "")

    def picture_image(self) -> QImage | None:
        """The picture with twice the dots of the screen."""
        return figure_image(self.figure())

    def _show_menu(self) -> None:
        anchor = self.head_buttons[-1]
        self._open_menu(anchor.mapToGlobal(anchor.rect().bottomLeft()))

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """The menu of the page, with what can be done to what is chosen."""
        self._open_menu(event.globalPos())

    def _open_menu(self, point: QPoint) -> None:
        menu = QMenu(self)
        self.fill_menu(menu)
        self.offer_rename(menu)
        offer_selection(menu, self.workbench, self.run, self.window())
        if menu.actions():
            menu.addSeparator()
        menu.addAction(
            tr("Copy headline"), lambda: copy_text(f"{self._headline.text()}\n{self._caption.text()}".strip())
        )
        menu.addAction(icon("refresh"), tr("Draw again"), self.refresh)
        menu.exec(point)
        menu.deleteLater()
