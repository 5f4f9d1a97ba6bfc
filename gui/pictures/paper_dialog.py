"""Export a picture: kind of file, size, colours and words, with a preview; then save or copy it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QImage, QPainter, QPaintEvent
from PySide6.QtWidgets import QCheckBox, QDoubleSpinBox, QSpinBox, QWidget

from plaidwork.core.draws.counting import counted
from plaidwork.core.pictures import Picture
from plaidwork.gui.dialog_parts import foot_pane, head_pane
from plaidwork.gui.language import tr
from plaidwork.gui.numbers import format_count
from plaidwork.gui.pictures.paper import FORMATS, Paper, copy_picture, picture_image, roomy, write_picture
from plaidwork.gui.save_path import ask_save_path
from plaidwork.gui.task_dialog import TaskDialog, error_text
from plaidwork.gui.theme import space, theme
from plaidwork.gui.widgets import Label, SegmentedControl, button
from plaidwork.gui.widgets.layouts import STRETCH, grid_layout, horizontal, vertical

_PREVIEW, _WAIT = 560, 150
"""Pixels of the longer side of the preview, and milliseconds of rest before it is drawn anew."""
_last: dict[str, Any] = {}
"""What was chosen last, for the next picture."""


class _Preview(QWidget):
    """An image, as large as there is room, with a line around it."""

    def __init__(self) -> None:
        super().__init__()
        self.image: QImage | None = None
        self.setMinimumSize(_PREVIEW, 380)
        self.setAccessibleName(tr("Preview"))

    def show_image(self, image: QImage) -> None:
        """Show another image."""
        self.image = image
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """The image in the middle."""
        if self.image is None:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        shown = self.image.size().scaled(self.size(), Qt.AspectRatioMode.KeepAspectRatio)
        place = self.rect().adjusted(0, 0, -1, -1)
        place.setSize(shown)
        place.moveCenter(self.rect().center())
        painter.drawImage(place, self.image)
        painter.setPen(theme().color("border"))
        painter.drawRect(place.adjusted(0, 0, -1, -1))
        painter.end()


class PaperDialog(TaskDialog):
    """``picture`` as it stands in the window, ``proposed`` a file name without a suffix, ``origin`` what it was made from.

    Signals
    -------
    written : path of the file, once it has been written
    """

    written = Signal(object)

    def __init__(
        self, picture: Picture, proposed: Path, origin: str = "", parent: QWidget | None = None
    ) -> None:
        super().__init__("Export picture", parent)
        self._picture, self._proposed, self._origin = picture, proposed, origin
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.preview = _Preview()
        self._form = self._build_form()
        self.note = Label("", "caption", "muted", wrap=True)
        self.copy_button = button("Copy", self.copy)
        self.save_button = button("Save as…", self.save, kind="primary")
        self.save_button.setDefault(True)
        edge = space.DIALOG_EDGE
        body = horizontal(self._form, (self.preview, 1), spacing=space.XL, margins=edge)
        vertical(
            head_pane("Export picture", Label(picture.headline, "body", "muted", elide=True)),
            (body, 1),
            foot_pane(self.note, button("Cancel", self.reject), self.copy_button, self.save_button),
            on=self,
            spacing=0,
        )
        self._redraw = self.later(_WAIT, self._draw)
        self._draw()

    def _build_form(self) -> QWidget:
        kept: dict[str, Any] = {
            "kind": "png",
            **Paper().__dict__,
            "scheme": theme().scheme,
            "told": False,
            **_last,
        }
        self.kind = SegmentedControl([(kind, kind.upper()) for kind in FORMATS], kept["kind"])
        self.scheme = SegmentedControl([("light", "Light"), ("dark", "Dark")], kept["scheme"])
        self.width_field = _number(20, 2000, kept["width"], " mm", "Width")
        self.height_field = _number(20, 2000, kept["height"], " mm", "Height")
        self.dpi = QSpinBox()
        self.dpi.setRange(30, 2400)
        self.dpi.setValue(round(kept["dpi"]))
        self.dpi.setSuffix(tr(" dots per inch"))
        self.dpi.setAccessibleName(tr("Resolution"))
        self.points = _number(3, 60, kept["points"], " points", "Size of the texts")
        self.titled = QCheckBox(tr("Headline, caption and notes"))
        self.titled.setChecked(kept["titled"])
        self.origin = QCheckBox(tr("A line with data, model, seed and version"))
        self.origin.setChecked(bool(kept["told"] and self._origin))
        self.origin.setEnabled(bool(self._origin))
        form = QWidget()
        rows = grid_layout(spacing=(space.M, space.M))
        fields = (
            ("File", self.kind),
            ("Width", self.width_field),
            ("Height", self.height_field),
            ("Resolution", self.dpi),
            ("Texts", self.points),
            ("Colours", self.scheme),
        )
        for row, (title, field) in enumerate(fields):
            rows.addWidget(Label(title, "body"), row, 0)
            rows.addWidget(field, row, 1)
        vertical(rows, self.titled, self.origin, STRETCH, on=form, spacing=space.M)
        for signal in (
            self.kind.changed,
            self.scheme.changed,
            self.width_field.valueChanged,
            self.height_field.valueChanged,
            self.dpi.valueChanged,
            self.points.valueChanged,
            self.titled.toggled,
            self.origin.toggled,
        ):
            signal.connect(self._changed)
        return form

    # -- what is chosen -------------------------------------------------------------------------
    @property
    def paper(self) -> Paper:
        """The paper that is asked for."""
        return Paper(
            self.width_field.value(),
            self.height_field.value(),
            self.points.value(),
            self.scheme.current,
            float(self.dpi.value()),
            self.titled.isChecked(),
        )

    @property
    def sheet(self) -> Picture:
        """The picture with the line below it, if that is asked for."""
        return replace(self._picture, origin=self._origin if self.origin.isChecked() else "")

    def _changed(self, *_: object) -> None:
        _last.update(self.paper.__dict__, kind=self.kind.current, told=self.origin.isChecked())
        self._redraw.start()

    def _draw(self) -> None:
        """The preview, drawn in the background with as many dots as it shows."""
        self.dpi.setEnabled(self.kind.current == "png")
        picture, paper = self.sheet, self.paper
        longer = max(paper.units.width(), paper.units.height())
        shown = replace(paper, dpi=min(max(_PREVIEW * 2 / longer * 96, 30.0), 2400.0))

        def draw(task: object) -> tuple[QImage, Paper]:
            return picture_image(picture, shown), roomy(picture, paper)

        self.begin("preview", draw, self._show, lambda error, details: self.note.setText(error_text(error)))

    def _show(self, found: tuple[QImage, Paper]) -> None:
        image, paper = found
        self.preview.show_image(image)
        words = []
        if paper.height > self.paper.height + 0.5:
            words.append(f"Words and panels need {paper.height:.0f} mm of height.")
        if self.kind.current == "png":
            wide, high = (round(mm / 25.4 * paper.dpi) for mm in (paper.width, paper.height))
            words.append(f"{format_count(wide)} × {counted(high, 'pixel')}.")
        self.note.setText(" ".join(words))

    # -- what is done ---------------------------------------------------------------------------
    def copy(self) -> None:
        """Put the picture on the clipboard."""
        picture, paper = self.sheet, self.paper

        def done(image: QImage) -> None:
            copy_picture(image)
            self.note.setText("Copied to the clipboard.")

        self.begin("copy", lambda task: picture_image(picture, paper), done, self._failed)

    def save(self) -> None:
        """Ask for a file and write it in the background."""
        kind = self.kind.current
        kinds = f"{kind.upper()} (*.{kind})"
        path = ask_save_path(self, "Export picture", f"{self._proposed}.{kind}", kinds)
        if path is None:
            return
        picture, paper = self.sheet, self.paper
        self.save_button.setEnabled(False)

        def done(written: Path) -> None:
            self.written.emit(written)
            self.accept()

        self.begin("save", lambda task: write_picture(picture, path, paper), done, self._failed)

    def _failed(self, error: BaseException, details: str) -> None:
        self.save_button.setEnabled(True)
        self.note.setText(error_text(error))


def _number(low: float, high: float, value: float, unit: str, name: str) -> QDoubleSpinBox:
    field = QDoubleSpinBox()
    field.setDecimals(0 if high > 100 else 1)
    field.setRange(low, high)
    field.setValue(value)
    field.setSuffix(tr(unit))
    field.setAccessibleName(tr(name))
    return field
