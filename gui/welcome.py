"""The first page: examples that open in one click, recent sessions, import and open."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QEvent, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QPainterPath, QPaintEvent, QPixmap, QResizeEvent
from PySide6.QtWidgets import QWidget

from plaidwork.core.data.samples import Sample
from plaidwork.gui.icons import pixmap
from plaidwork.gui.language import tr
from plaidwork.gui.theme import size, space, theme
from plaidwork.gui.widgets import Card, Label, button, scrolled
from plaidwork.gui.widgets.layouts import STRETCH, grid_layout, horizontal, vertical

_PANEL = 360
_CARD_LEAST = 250
_PICTURE_RATIO = 0.55


class _Picture(QWidget):
    """A picture that fills its width and is cut, never stretched, with round upper corners."""

    def __init__(self, path: Path | None, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._pixmap = QPixmap(str(path)) if path else QPixmap()

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return max(92, min(360, round(width * _PICTURE_RATIO)))

    def sizeHint(self) -> QSize:
        return QSize(_CARD_LEAST, 140)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.SmoothPixmapTransform)
        area = QRectF(self.rect()).adjusted(1, 1, -1, 0)
        shape = QPainterPath()
        shape.addRoundedRect(area.adjusted(0, 0, 0, size.RADIUS_CARD), size.RADIUS_CARD, size.RADIUS_CARD)
        painter.setClipPath(shape)
        painter.fillRect(self.rect(), theme().color("sunken"))
        if not self._pixmap.isNull():
            scale = max(area.width() / self._pixmap.width(), area.height() / self._pixmap.height())
            width, height = area.width() / scale, area.height() / scale
            source = QRectF(
                (self._pixmap.width() - width) / 2, (self._pixmap.height() - height) / 2, width, height
            )
            painter.drawPixmap(area, self._pixmap, source)


class ExampleCard(Card):
    """One example: picture, title, a line, model and size. Click or Enter opens it."""

    def __init__(self, sample: Sample, model_title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent, clickable=True)
        self.sample = sample
        self.setAccessibleName(tr(f"Example: {sample.title}. {sample.line}"))
        self.setToolTip(tr(f"{sample.line}\nData: {sample.source} {sample.licence}".strip()))
        self._picture = _Picture(sample.picture_path)
        self.model = Label("", "caption", "muted", wrap=True)
        """Title of the model, and the size of the data."""
        self.set_model(model_title)
        texts = vertical(
            Label(sample.title, "strong", wrap=True),
            Label(sample.line, wrap=True, color="muted"),
            STRETCH,
            self.model,
            spacing=space.XS,
            margins=(space.L, space.M, space.L, space.L),
        )
        vertical(self._picture, (texts, 1), on=self, spacing=0)

    def set_model(self, title: str) -> None:
        """Show another title of the model, as when the models are loaded."""
        self.model.setText(f"{title}  ·  {self.sample.size}")


class _Scrolled(QWidget):
    """Contents of a scroll area whose height depends on their width; the area alone would squeeze rows of cards."""

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.fit()

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.LayoutRequest:
            self.fit()
        return super().event(event)

    def fit(self) -> None:
        """As tall as the layout needs at this width."""
        layout = self.layout()
        if layout is not None:
            self.setMinimumHeight(layout.totalHeightForWidth(self.width()))


class _Recent(Card):
    """A recent session: name, what is in it, when; grey when the file is gone."""

    def __init__(self, entry: dict[str, str], parent: QWidget | None = None) -> None:
        super().__init__(parent, color="surface", clickable=True)
        self.path = Path(entry["path"])
        self.missing = not self.path.exists()
        ink = "faint" if self.missing else "text"
        line = f"File not found. It was last in {self.path.parent}" if self.missing else entry["line"]
        self.setAccessibleName(tr(f"Recent session {self.path.name}. {line}"))
        self.setToolTip(str(self.path))
        top = horizontal(
            (Label(self.path.name, "strong", ink, elide=True, given=True), 1),
            Label(_when(entry["time"]), "caption", "muted"),
        )
        vertical(
            top,
            Label(line, "caption", "muted", elide=True),
            on=self,
            spacing=2,
            margins=(space.M, space.S, space.M, space.S),
        )


def _when(time: str) -> str:
    """``Today 14:02``, ``Yesterday 17:40``, ``12 Nov`` or ``3 Oct 2024`` in local time."""
    try:
        moment = dt.datetime.fromisoformat(time).astimezone()
    except ValueError:
        return ""
    days = (dt.datetime.now().astimezone().date() - moment.date()).days
    if days in (0, 1):
        return f"{'Yesterday' if days else 'Today'} {moment:%H:%M}"
    this_year = moment.year == dt.datetime.now().astimezone().year
    return f"{moment.day} {moment:%b}" + ("" if this_year else f" {moment.year}")


class WelcomePage(QWidget):
    """Shown while the session is empty."""

    example_chosen = Signal(object)
    recent_chosen = Signal(str)
    left = Signal()
    """Back to the session that is open."""

    def __init__(
        self,
        import_data: Callable[[], object],
        open_file: Callable[[], object],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._cards: list[ExampleCard] = []
        self._columns = 0
        self._grid = grid_layout(spacing=space.L)
        self._recent_list = vertical(spacing=space.S)
        self._recent_title = Label("Recent", "title")
        self._mark = Label()
        horizontal((self._left(), 1), self._panel(import_data, open_file), on=self, spacing=0)
        theme().changed.connect(self._restyle)
        self._restyle()

    def _left(self) -> QWidget:
        inner = _Scrolled()
        texts = vertical(
            Label("Plaidwork", "display"),
            Label(
                "Find hidden structure in your data, and see how sure you can be.", color="muted", wrap=True
            ),
            spacing=0,
        )
        head = horizontal(self._mark, (texts, 1), spacing=space.L)
        self.cards = QWidget()
        """Where the examples are."""
        vertical(self._grid, on=self.cards)
        row = horizontal(
            Label("Start from an example", "title"),
            STRETCH,
            Label("Each opens ready to fit; most take a minute or two", "caption", "muted", elide=True),
        )
        vertical(
            head,
            space.S,
            row,
            self.cards,
            STRETCH,
            on=inner,
            spacing=space.L,
            margins=(space.WELCOME_EDGE, space.GROUP, space.GROUP, space.GROUP),
        )
        scroll = scrolled(inner)
        for widget in (inner, scroll.viewport()):
            widget.setBackgroundRole(self.backgroundRole().Window)
            widget.setAutoFillBackground(True)
        return scroll

    def _panel(self, import_data: Callable[[], object], open_file: Callable[[], object]) -> QWidget:
        panel = QWidget()
        self.back_button = button("", self.left.emit, icon_name="chevron-left")
        self.back_button.hide()
        self.import_button = button("Import data…", import_data, kind="primary", icon_name="database")
        self.open_button = button("Open a session…", open_file, icon_name="folder")
        vertical(
            self.back_button,
            Label("Open", "title"),
            self.import_button,
            self.open_button,
            Label(
                "or drop files anywhere: CSV, TSV, Excel, ODS, Parquet, npy, npz, mtx, mat, h5ad, h5mu, h5, IDX, "
                "folders of texts or images. "
                "Several become views of the same samples.",
                "caption",
                "muted",
                wrap=True,
            ),
            space.M,
            self._recent_title,
            self._recent_list,
            STRETCH,
            Label("Nothing leaves this computer.", "caption", "muted", wrap=True),
            on=panel,
            spacing=space.M,
            margins=(space.GROUP, space.HUGE, space.GROUP, space.XXL),
        )
        scroll = scrolled(panel, background=self.backgroundRole().Base)
        scroll.setFixedWidth(_PANEL)
        return scroll

    def set_examples(self, samples: list[tuple[Sample, str]]) -> None:
        """Show these examples: (sample, title of its model)."""
        if [sample for sample, _ in samples] == [card.sample for card in self._cards]:
            for card, (_, title) in zip(self._cards, samples, strict=True):
                card.set_model(title)
            return
        for card in self._cards:
            card.deleteLater()
        self._cards = [ExampleCard(sample, title) for sample, title in samples]
        for card in self._cards:
            card.clicked.connect(lambda card=card: self.example_chosen.emit(card.sample))
        self._columns = 0
        self._arrange()

    @property
    def examples(self) -> list[Sample]:
        """The examples in the order of their cards."""
        return [card.sample for card in self._cards]

    def set_open(self, name: str) -> None:
        """Offer the way back to the session of this name; none when the name is empty."""
        room = _PANEL - 2 * space.GROUP - 2 * space.XXL - 2 * size.ICON - size.SCROLL_BAR
        shown = self.back_button.fontMetrics().elidedText(
            f"Back to {name}", Qt.TextElideMode.ElideMiddle, room
        )
        self.back_button.setText(tr(shown))
        self.back_button.setToolTip(tr(f"Back to {name} (Esc)"))
        self.back_button.setVisible(bool(name))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Esc goes back to the session, when one is open."""
        if event.key() == Qt.Key.Key_Escape and not self.back_button.isHidden():
            self.left.emit()
            return
        super().keyPressEvent(event)

    def set_recent(self, entries: list[dict[str, str]]) -> None:
        """Show these recent sessions."""
        while self._recent_list.count():
            widget = self._recent_list.takeAt(0).widget()
            if widget is not None:
                widget.deleteLater()
        self._recent_title.setVisible(bool(entries))
        for entry in entries[:6]:
            row = _Recent(entry)
            row.clicked.connect(lambda path=entry["path"]: self.recent_chosen.emit(path))
            self._recent_list.addWidget(row)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    def _arrange(self) -> None:
        """As many equal columns as fit, three at most."""
        room = self.width() - _PANEL - space.WELCOME_EDGE - space.GROUP
        columns = max(1, min(3, room // (_CARD_LEAST + space.L)))
        if columns == self._columns:
            return
        self._columns = columns
        for index, card in enumerate(self._cards):
            self._grid.addWidget(card, index // columns, index % columns)
        for column in range(3):
            self._grid.setColumnStretch(column, 1 if column < columns else 0)

    def _restyle(self) -> None:
        self._mark.setPixmap(pixmap("mark", 40, theme().color("text")))
