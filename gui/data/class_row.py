"""The line of the import dialog for a table of samples: classes, descriptions, whatever is known beside the numbers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFileDialog, QWidget

from plaidwork.core.data.importers import Preview
from plaidwork.core.errors import PlaidworkError
from plaidwork.gui.data.import_state import match_axis
from plaidwork.gui.language import tr
from plaidwork.gui.numbers import format_count
from plaidwork.gui.tasks import run_task
from plaidwork.gui.theme import space
from plaidwork.gui.widgets import Chip, Label, button
from plaidwork.gui.widgets.layouts import horizontal, vertical

_EMPTY = "Optional: a table with one row per sample, for colours and classifiers"


class ClassRow(QWidget):
    """Choose a table, see how many names match, take it back.

    Signals
    -------
    failed : title and hint of why a table cannot be used
    read : a table was read
    """

    failed = Signal(str, str)
    read = Signal()

    def __init__(self, path: Path, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.annotations: Any = None
        self.file: Path | None = None
        self._path = path
        self._preview: Preview | None = None
        self._suggestion = _find_sibling(path)
        self._chip = Chip("")
        self.match = Chip("", "ok")
        self._line = Label(_EMPTY, "caption", "muted", elide=True)
        self.suggest_button = button("", self._take_suggestion, kind="quiet")
        self.remove_button = button("Remove", self._forget, kind="quiet")
        self.choose_button = button("Choose…", self._ask)
        texts = vertical(Label("Sample classes", "strong"), self._line, spacing=0)
        horizontal(
            (texts, 1),
            self._chip,
            self.match,
            self.suggest_button,
            self.remove_button,
            self.choose_button,
            on=self,
            spacing=space.S,
        )
        self._show()

    def _ask(self) -> None:
        kinds = "Tables (*.csv *.tsv *.txt *.csv.gz *.tsv.gz *.xlsx *.xls *.ods)"
        path, _ = QFileDialog.getOpenFileName(self, tr("Sample classes"), str(self._path.parent), kinds)
        if path:
            self.set_file(Path(path))

    def _take_suggestion(self) -> None:
        if self._suggestion is not None:
            self.set_file(self._suggestion)

    def set_file(self, path: Path) -> None:
        """Read a table of annotations, one row per sample (or per row of the matrix)."""

        def done(found: Any) -> None:
            self.annotations, self.file = found, path
            self._show()
            self.read.emit()

        def failed(error: BaseException, details: str) -> None:
            title = error.message if isinstance(error, PlaidworkError) else f"{path.name}: {error}"
            self.failed.emit(title, error.hint if isinstance(error, PlaidworkError) else "")

        run_task(lambda task: _read_annotations(path), done, failed)

    def _forget(self) -> None:
        self.annotations = self.file = None
        self._show()

    def _show(self) -> None:
        chosen = self.annotations is not None
        for widget in (self._chip, self.match, self.remove_button):
            widget.setVisible(chosen)
        self.suggest_button.setVisible(not chosen and self._suggestion is not None)
        if self._suggestion is not None:
            self.suggest_button.setText(tr(f"Use {self._suggestion.name}"))
        if chosen and self.file is not None:
            self._chip.set(self.file.name)
            columns = list(self.annotations.columns)
            self._line.setText(f"Adds {', '.join(columns[:4])}{', …' if len(columns) > 4 else ''}")
            self.show_match(self._preview)
        else:
            self._line.setText(_EMPTY)

    def show_match(self, preview: Preview | None) -> None:
        """How many names of the matrix the table has."""
        self._preview = preview
        if self.annotations is None or preview is None:
            return
        columns = tuple(t for t, role in zip(preview.header, preview.roles) if role == "value")
        rows: tuple[str, ...] = ()
        if "name" in preview.roles:
            index = preview.roles.index("name")
            rows = tuple(cells[index].strip() for cells in preview.cells if index < len(cells))
        axis, count = match_axis({1: columns, 0: rows}, self.annotations.names)
        total = len((rows, columns)[axis])
        if count == 0:
            self.match.set("no name matches", "error")
        elif axis == 0 and preview.n_rows > len(preview.cells):
            self.match.set(f"{count} of the first {total} names match", "ok" if count == total else "warn")
        else:
            text = f"{format_count(count)} of {format_count(total)} names match"
            self.match.set(text, "ok" if count == total else "warn")


def _find_sibling(path: Path) -> Path | None:
    """A table of samples beside the file: ``a_x.csv`` → ``a_samples.csv``."""
    stem = file_stem(path)
    suffix = path.name[len(stem) :]
    stems: Sequence[str] = (stem.removesuffix("_x").removesuffix("_data"), stem)
    for base in stems:
        for word in ("samples", "classes", "labels"):
            found = path.with_name(f"{base}_{word}{suffix}")
            if found != path and found.is_file():
                return found
    return None


def file_stem(path: Path) -> str:
    """The name of a file without its last suffix and ``.gz``."""
    from plaidwork.core.data.importers._text import file_stem as stem

    return stem(path)


def _read_annotations(path: Path) -> Any:
    from plaidwork.core.data.importers._column import read_annotations

    return read_annotations(path)
