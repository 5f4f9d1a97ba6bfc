"""What only analyses ask for: annotation columns, one or many, and files."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFileDialog,
    QListWidget,
    QListWidgetItem,
    QWidget,
)
from shiboken6 import isValid

from plaidwork.core.contract.hyperparameter import Choice, Hyperparameter
from plaidwork.core.data.dataset import Dataset
from plaidwork.core.findings.annotations import AXES, AnnotationRef, Annotations
from plaidwork.core.findings.attached import AttachedFile, FileRequest
from plaidwork.gui.language import tr
from plaidwork.gui.numbers import format_count
from plaidwork.gui.setup.error_line import ErrorLine
from plaidwork.gui.tasks import Task, run_task
from plaidwork.gui.theme import space
from plaidwork.gui.widgets import Label, button, tool_button
from plaidwork.gui.widgets.layouts import STRETCH, horizontal, vertical

Described = Mapping[str, Sequence[Dataset]]
"""Datasets by the name of the input they were given as."""
Examine = Callable[[str], tuple[AttachedFile, str]]
"""Reads the file at a path, and says in words what it holds. Raises ``PlaidworkError``."""

_FEW_LABELS = 24
_ROWS_SHOWN = 7


def annotation_labels(refs: Sequence[AnnotationRef], described: Described) -> list[str]:
    """``class (samples)`` for each, with the name of the data where several have annotations."""
    several = len({ref.input for ref in refs}) > 1
    labels = []
    for ref in refs:
        dataset = described[ref.input][0]
        label = (dataset.row_label, dataset.column_label)[AXES.index(ref.axis)]
        labels.append(f"{ref.title} ({label} of {dataset.name})" if several else f"{ref.title} ({label})")
    return labels


def annotation_setting(
    declared: Annotations, refs: Sequence[AnnotationRef], described: Described
) -> Hyperparameter | None:
    """The choice of one as a setting, so that the form's field draws it; None when there is nothing to choose."""
    if not refs:
        return None
    labels = annotation_labels(refs, described)
    choices = [Choice(value=str(ref), label=text) for ref, text in zip(refs, labels, strict=True)]
    if not declared.required:
        choices.insert(0, Choice(value="", label="None"))
    return Hyperparameter(
        declared.name,
        "choice",
        str(_likely(refs, described, declared.likely)) if declared.required else "",
        label=declared.title,
        doc=declared.doc,
        choices=tuple(choices),
    )


def _likely(refs: Sequence[AnnotationRef], described: Described, words: Sequence[str]) -> AnnotationRef:
    """The one to begin with: the first with a word in its title, earlier words first; or with a few labels that recur; else the first."""
    for word in words:
        for ref in refs:
            if word in re.findall(r"[a-z]+", ref.title.casefold()):
                return ref
    for ref in refs:
        dataset = described[ref.input][0]
        column = (dataset.row_table if ref.axis == "row" else dataset.column_table).get(ref.title, ())
        found = {str(value) for value in np.asarray(column)} - {"", "None", "nan"}
        if 2 <= len(found) <= min(_FEW_LABELS, len(column) / 2):
            return ref
    return refs[0]


class ColumnsField(QWidget):
    """Any number of annotation columns: a list with check boxes, all of them chosen at first."""

    changed = Signal()

    def __init__(
        self,
        declared: Annotations,
        refs: Sequence[AnnotationRef],
        described: Described,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.declared = declared
        self.list = QListWidget()
        self.list.setObjectName(declared.name)
        self.list.setAccessibleName(tr(declared.title))
        self.list.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        self.list.setUniformItemSizes(True)
        alike = len({(ref.input, ref.axis) for ref in refs}) == 1
        shown = [ref.title for ref in refs] if alike else annotation_labels(refs, described)
        for ref, text in zip(refs, shown, strict=True):
            item = QListWidgetItem(text, self.list)
            item.setData(Qt.ItemDataRole.UserRole, str(ref))
            item.setCheckState(Qt.CheckState.Checked if declared.required else Qt.CheckState.Unchecked)
        height = self.list.sizeHintForRow(0) if refs else 20
        self.list.setFixedHeight(min(len(refs), _ROWS_SHOWN) * height + 2 * self.list.frameWidth() + 2)
        self._count_label = Label("", "caption", "muted")
        label = Label(declared.title, elide=True)
        label.setBuddy(self.list)
        self.all = button("All", lambda: self.choose([str(ref) for ref in self.offered]), kind="quiet")
        self.none = button("None", lambda: self.choose([]), kind="quiet")
        head = horizontal(label, self._count_label, STRETCH, self.all, self.none, spacing=space.S)
        column = vertical(head, self.list, on=self, spacing=space.XS)
        if declared.doc:
            column.addWidget(Label(declared.doc, "caption", "muted", wrap=True))
        self.list.itemChanged.connect(lambda _: self._tell())
        self.setFocusProxy(self.list)
        self._tell()

    @property
    def offered(self) -> list[str]:
        """All columns, as texts."""
        return [str(self.list.item(i).data(Qt.ItemDataRole.UserRole)) for i in range(self.list.count())]

    @property
    def value(self) -> list[str]:
        """The columns chosen, as texts."""
        items = [self.list.item(i) for i in range(self.list.count())]
        return [
            str(item.data(Qt.ItemDataRole.UserRole))
            for item in items
            if item.checkState() is Qt.CheckState.Checked
        ]

    @property
    def problem(self) -> str:
        """What is missing, or empty."""
        return (
            f"“{self.declared.title}” needs at least one."
            if self.declared.required and not self.value
            else ""
        )

    def choose(self, refs: Sequence[str]) -> None:
        """Choose exactly these, as far as they are on offer."""
        blocker = QSignalBlocker(self.list)
        for i in range(self.list.count()):
            item = self.list.item(i)
            on = item.data(Qt.ItemDataRole.UserRole) in refs
            item.setCheckState(Qt.CheckState.Checked if on else Qt.CheckState.Unchecked)
        blocker.unblock()
        self._tell()

    def _tell(self) -> None:
        self._count_label.setText(f"{format_count(len(self.value))} of {format_count(self.list.count())}")
        self.changed.emit()


class FileField(QWidget):
    """A file, chosen in a dialog, read and examined in the background."""

    changed = Signal()

    def __init__(self, request: FileRequest, examine: Examine, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.request = request
        self._examine = examine
        self._task: Task | None = None
        self.value: AttachedFile | None = None
        self.choose_button = button("Choose file…", self.ask, icon_name="folder")
        self.choose_button.setAccessibleName(tr(f"Choose file: {request.title}"))
        self.choose_button.setObjectName(f"file_{request.name}")
        self._clear = tool_button("close", "Choose no file", lambda: self.set_value(None))
        self._name = Label("", elide=True)
        self._help = Label(request.doc, "caption", "muted", wrap=True)
        self._error = ErrorLine()
        label = Label(request.title)
        label.setBuddy(self.choose_button)
        row = horizontal(self.choose_button, (self._name, 1), self._clear, spacing=space.S)
        vertical(label, row, self._help, self._error, on=self, spacing=space.XS)
        self.setFocusProxy(self.choose_button)
        self._show("No file chosen", request.doc)

    @property
    def problem(self) -> str:
        """What is missing, or empty; what is wrong with the file is shown at the field."""
        if self._task is not None:
            return f"“{self.request.title}” is being read."
        return f"“{self.request.title}” needs a file." if self.request.required and self.value is None else ""

    @property
    def shown_problem(self) -> str:
        """What the field says is wrong."""
        return self._error.text

    @property
    def help_text(self) -> str:
        """What the field says about the file."""
        return self._help.text()

    def ask(self) -> None:
        """Let the user choose a file."""
        request = self.request
        kinds = (
            f"{request.title} ({' '.join('*' + suffix for suffix in request.suffixes)});;"
            if request.suffixes
            else ""
        )
        path, _ = QFileDialog.getOpenFileName(
            self, tr(f"Choose {request.title.lower()}"), "", f"{kinds}All files (*)"
        )
        if path:
            self.load(Path(path))

    def load(self, path: Path) -> None:
        """Read a file in the background; ``changed`` tells when it is there, or is not what was asked for."""
        if self._task is not None:
            self._task.cancel()
        self._show(f"Reading {path.name}", "")

        def done(found: tuple[AttachedFile, str]) -> None:
            if isValid(self):
                self._task = None
                self.set_value(*found)

        def failed(error: BaseException, _details: str) -> None:
            if isValid(self):
                self._task = None
                self.set_value(None)
                self._error.set_text(str(error))

        self._task = run_task(lambda task: self._examine(str(path)), done, failed)
        self.changed.emit()

    def set_value(self, file: AttachedFile | None, text: str = "") -> None:
        """Show a file that was read, or none."""
        self.value = file
        self._error.set_text("")
        if file is None:
            self._show("No file chosen", self.request.doc)
        else:
            self._show(file.name, text or "Kept with the analysis that was made of it.")
        self.changed.emit()

    def _show(self, name: str, text: str) -> None:
        self._name.setText(name)
        self._name.set_color("muted" if self.value is None else "text")
        self._clear.setVisible(self.value is not None and not self.request.required)
        self._help.setText(text)
        self._help.setVisible(bool(text))
