"""The list at the left: data and runs of the session, each with one muted line and a status icon."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from PySide6.QtCore import (
    QItemSelectionModel,
    QModelIndex,
    QPersistentModelIndex,
    QPoint,
    QRect,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QFontMetrics, QKeyEvent, QPainter
from PySide6.QtWidgets import (
    QFrame,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTreeWidget,
    QTreeWidgetItem,
    QWidget,
)

from plaidwork.core.data.dataset import Dataset
from plaidwork.core.draws.counting import counted
from plaidwork.core.inference.run import Run
from plaidwork.core.study import StudyRecord
from plaidwork.gui.cut_names import cut_name
from plaidwork.gui.data.facts import size_text
from plaidwork.gui.icons import pixmap
from plaidwork.gui.language import tr
from plaidwork.gui.studies.columns import progress_text
from plaidwork.gui.theme import size, space, theme
from plaidwork.gui.widgets.row_ground import paint_row_ground
from plaidwork.gui.workbench import Workbench

_KIND = Qt.ItemDataRole.UserRole
_NAME = Qt.ItemDataRole.UserRole + 1
_DETAIL = Qt.ItemDataRole.UserRole + 2
_ICON = Qt.ItemDataRole.UserRole + 3
_KEY = Qt.ItemDataRole.UserRole + 10
_LOOKED_AT = 500
"""Letters of a note in which its first line is looked for."""

DATA, RUN, STUDY, NEW, NOTES = "data", "run", "study", "new", "notes"
SESSION = "session"
"""Key of the notes on the session."""

STATUS_ICONS = {
    "ready": ("clock", "muted"),
    "running": ("play", "accent"),
    "paused": ("pause", "muted"),
    "stopped": ("stop", "muted"),
    "done": ("check", "ok"),
    "failed": ("error", "error"),
}


def dataset_line(dataset: Dataset) -> str:
    """``2 308 genes × 83 samples · log, rows standardised``."""
    steps = ", ".join(str(step) for step in dataset.steps)
    return size_text(dataset) + (f" · {steps}" if steps else "")


def run_icon(workbench: Workbench, run: Run) -> tuple[str, str]:
    """Icon and colour of a run's state; a finished run that has not settled carries its warning, and no colour until that is known."""
    if run.status != "done":
        return STATUS_ICONS[run.status]
    verdict = workbench.verdict(run)
    if verdict is None:
        return "check", "muted"
    return STATUS_ICONS["done"] if verdict.settled else ("warning", "warn")


def run_line(workbench: Workbench, run: Run) -> str:
    """``running, 26 %``, or ``4 chains, 4 000 draws`` after a word when they have not settled."""
    if run.active:
        share = run.sweeps_done / max(1, run.sweeps_planned)
        return f"{run.status}, {share * 100:.0f} %"
    if run.status == "ready":
        return "not started"
    line = counted(run.schedule.chains, run.chain_word)
    if run.spec.algorithm == "mcmc":
        line += f", {counted(run.n_draws, 'draw')}"
    verdict = workbench.verdict(run)
    if verdict is not None and not verdict.settled:
        line = f"{verdict.word.lower()} · {line}"
    return line if run.status == "done" else f"{run.status}, {line}"


def notes_line(notes: str) -> str:
    """The first line of a note that says something, without the signs of a heading."""
    first = next(filter(None, (line.strip("# \t*_>-") for line in notes[:_LOOKED_AT].splitlines())), "")
    return first or "nothing written yet"


def study_line(record: StudyRecord) -> str:
    """``45 fits, 12 done`` or ``45 fits, fit 7 picked``."""
    fits = len(record.jobs)
    line = counted(fits, "fit")
    if record.chosen is not None:
        return f"{line}, fit {record.chosen.number} picked"
    return f"{line}, {progress_text(record)}"


def study_icon(workbench: Workbench, record: StudyRecord) -> tuple[str, str]:
    """Icon and colour of a search's state."""
    phase = workbench.studies.phase(record.id)
    if phase:
        return STATUS_ICONS["paused" if phase == "paused" else "running"]
    if record.count("waiting", "stopped"):
        return STATUS_ICONS["stopped"]
    if record.count("failed"):
        return ("warning", "warn") if record.count("done") else STATUS_ICONS["failed"]
    return STATUS_ICONS["done"]


class _Delegate(QStyledItemDelegate):
    """Name with an icon, and the muted line below it."""

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        name, detail = (QFontMetrics(theme().font(role)).height() for role in ("body", "caption"))
        return QSize(120, name + 13 if index.data(_KIND) is None else name + detail + 14)

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        colours = theme()
        painter.save()
        rect = QRect(option.rect)
        whole = QRect(0, rect.top(), rect.right() + 1, rect.height())
        if index.data(_KIND) is None:
            painter.setFont(colours.font("body"))
            painter.setPen(colours.color("muted"))
            area = rect.adjusted(space.DOCK_EDGE, 0, -space.S, 0)
            painter.drawText(
                area, Qt.AlignmentFlag.AlignVCenter, str(index.data(Qt.ItemDataRole.DisplayRole))
            )
            painter.restore()
            return
        paint_row_ground(painter, option, whole)
        name, colour = index.data(_ICON)
        painter.drawPixmap(
            QPoint(rect.left(), rect.top() + 6), pixmap(name, size.ICON, colours.color(colour))
        )
        area = rect.adjusted(size.ICON + space.S, 4, -space.S, 0)
        for role, font, ink in ((_NAME, "body", "text"), (_DETAIL, "caption", "muted")):
            painter.setFont(colours.font(font))
            painter.setPen(colours.color(ink))
            text, metrics = str(index.data(role)), painter.fontMetrics()
            if role == _NAME:
                text = cut_name(text, _names_beside(index), metrics, area.width())
            else:
                text = metrics.elidedText(text, Qt.TextElideMode.ElideRight, area.width())
            painter.drawText(area, Qt.AlignmentFlag.AlignTop, text)
            area.translate(0, metrics.height() + 1)
        painter.restore()


def _names_beside(index: QModelIndex | QPersistentModelIndex) -> Iterator[str]:
    """All names of the group that an item is in."""
    model, group = index.model(), index.parent()
    return (str(model.index(row, 0, group).data(_NAME)) for row in range(model.rowCount(group)))


class SessionTree(QTreeWidget):
    """Data, searches, runs and notes. ``chosen`` carries (kind, name): ``data`` and a dataset's name, ``run`` and a run's
    id, ``study`` and a search's id, ``new`` for the fit being set up, or ``notes`` for those on the session."""

    chosen = Signal(str, str)

    def __init__(self, workbench: Workbench, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._workbench = workbench
        self._new_fit = False
        self.setHeaderHidden(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setSelectionMode(QTreeWidget.SelectionMode.ExtendedSelection)
        self.setIndentation(space.XXL)
        self.setRootIsDecorated(False)
        self.setItemDelegate(_Delegate(self))
        self.setMouseTracking(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName(tr("Session: data, searches, runs and notes"))
        self.setBackgroundRole(self.backgroundRole().Window)
        self.viewport().setBackgroundRole(self.backgroundRole().Window)
        self._groups = {
            DATA: self._group("Data"),
            STUDY: self._group("Searches"),
            RUN: self._group("Runs"),
            NOTES: self._group("Notes"),
        }
        self.currentItemChanged.connect(self._current_changed)
        for signal in (workbench.session_replaced, workbench.data_changed, workbench.runs_changed):
            signal.connect(lambda *_: self.rebuild())
        workbench.data_renamed.connect(self._data_renamed)
        workbench.studies.listed.connect(self.rebuild)
        workbench.studies.changed.connect(self.update_study)
        workbench.studies.ended.connect(self.update_study)
        workbench.editing.changed.connect(self.update_notes)
        workbench.run_changed.connect(self.update_run)
        workbench.results_changed.connect(self.update_run)
        theme().changed.connect(self.viewport().update)
        self.rebuild()

    def _group(self, title: str) -> QTreeWidgetItem:
        item = QTreeWidgetItem([tr(title)])
        item.setFlags(Qt.ItemFlag.ItemIsEnabled)
        self.addTopLevelItem(item)
        item.setExpanded(True)
        return item

    def rebuild(self) -> None:
        """Show the session as it is now; the choice stays when it still exists."""
        current = self.current()
        self.blockSignals(True)
        for group in self._groups.values():
            group.takeChildren()
        session = self._workbench.session
        for name, dataset in session.datasets.items():
            self._add(DATA, name, name, dataset_line(dataset), ("database", "muted"))
        for record in self._workbench.studies.records():
            icon = study_icon(self._workbench, record)
            self._add(STUDY, record.id, record.title, study_line(record), icon)
        for run in session.runs.values():
            self._add(RUN, run.id, run.title, run_line(self._workbench, run), run_icon(self._workbench, run))
        if self._new_fit:
            self._add(NEW, "", tr("New fit"), "being set up", ("sliders", "muted"))
        if session.datasets or session.runs:
            self._add(NOTES, SESSION, tr("On the session"), notes_line(session.notes), ("note", "muted"))
        for group in self._groups.values():
            group.setHidden(group.childCount() == 0)
            group.setExpanded(True)
        self.select(*current)
        self.blockSignals(False)

    def _data_renamed(self, old: str, name: str) -> None:
        """The line is found by the new name from now on; what is in front is shown under it."""
        item = self._find(DATA, old)
        if item is not None:
            item.setData(0, _KEY, name)
            if item is self.currentItem():
                self.chosen.emit(DATA, name)

    def _add(self, kind: str, key: str, name: str, detail: str, icon: tuple[str, str]) -> None:
        item = QTreeWidgetItem()
        item.setData(0, _KIND, kind)
        item.setData(0, _KEY, key)
        self._fill(item, name, detail, icon)
        self._groups[RUN if kind == NEW else kind].addChild(item)

    def _fill(self, item: QTreeWidgetItem, name: str, detail: str, icon: tuple[str, str]) -> None:
        item.setData(0, _NAME, name)
        item.setData(0, _DETAIL, tr(detail))
        item.setData(0, _ICON, icon)
        item.setData(0, Qt.ItemDataRole.AccessibleTextRole, f"{name}, {tr(detail)}")
        item.setToolTip(0, f"{name}\n{tr(detail)}")

    def update_run(self, run_id: str) -> None:
        """Refresh one run's line and icon."""
        run = self._workbench.session.runs.get(run_id)
        item = self._find(RUN, run_id)
        if run is not None and item is not None:
            self._fill(item, run.title, run_line(self._workbench, run), run_icon(self._workbench, run))

    def update_study(self, study_id: str) -> None:
        """Refresh one search's line and icon."""
        record = self._workbench.studies.get(study_id)
        item = self._find(STUDY, study_id)
        if record is not None and item is not None:
            self._fill(item, record.title, study_line(record), study_icon(self._workbench, record))

    def update_notes(self) -> None:
        """Refresh the line of the notes on the session."""
        item = self._find(NOTES, SESSION)
        if item is not None:
            line = notes_line(self._workbench.session.notes)
            self._fill(item, "On the session", line, ("note", "muted"))

    def _find(self, kind: str, key: str) -> QTreeWidgetItem | None:
        group = self._groups.get(RUN if kind == NEW else kind)
        for index in range(group.childCount() if group is not None else 0):
            item = group.child(index)
            if (item.data(0, _KIND), item.data(0, _KEY)) == (kind, key):
                return item
        return None

    def has(self, kind: str, key: str) -> bool:
        """Whether an item is there."""
        return bool(kind) and self._find(kind, key) is not None

    def current(self) -> tuple[str, str]:
        """(kind, name) of the chosen item; empty texts when nothing is chosen."""
        item = self.currentItem()
        if item is None or item.data(0, _KIND) is None:
            return "", ""
        return str(item.data(0, _KIND)), str(item.data(0, _KEY))

    def chosen_items(self) -> list[tuple[str, str]]:
        """(kind, name) of all chosen items in their order; the one in front alone when none is marked."""
        marked = [
            (str(item.data(0, _KIND)), str(item.data(0, _KEY)))
            for group in self._groups.values()
            for item in map(group.child, range(group.childCount()))
            if item.isSelected()
        ]
        return marked or ([self.current()] if self.current()[0] else [])

    def beside(self, items: Sequence[tuple[str, str]]) -> tuple[str, str]:
        """What is chosen once these are gone: the next one of the last one's kind, else the one before; empty texts without."""
        group = self._groups.get(items[-1][0]) if items else None
        if group is None:
            return "", ""
        keys = [str(group.child(place).data(0, _KEY)) for place in range(group.childCount())]
        kind, last = items[-1]
        behind = keys.index(last)
        left = [key for key in keys[behind:] + keys[behind::-1] if (kind, key) not in items and key]
        return (kind, left[0]) if left else ("", "")

    def select(self, kind: str, key: str) -> None:
        """Choose an item, if it is there."""
        item = self._find(kind, key) if kind else None
        if item is not None:
            # alone, whatever keys are held
            self.setCurrentItem(item, 0, QItemSelectionModel.SelectionFlag.ClearAndSelect)

    def set_new_fit(self, shown: bool) -> None:
        """Show or hide the line of the fit being set up."""
        if shown != self._new_fit:
            self._new_fit = shown
            self.rebuild()

    def _current_changed(self, item: QTreeWidgetItem | None, _before: QTreeWidgetItem | None) -> None:
        if item is not None and item.data(0, _KIND) is not None:
            self.chosen.emit(*self.current())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter tells the choice again, so that it always leads to the page."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.current()[0]:
            self.chosen.emit(*self.current())
            return
        super().keyPressEvent(event)
