"""Install a plugin: say which, see what would come and where it goes, then agree or not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtGui import QCloseEvent, QKeyEvent
from PySide6.QtWidgets import (
    QFileDialog,
    QFrame,
    QLineEdit,
    QScrollArea,
    QStackedWidget,
    QWidget,
)

from plaidwork.core.draws.counting import agree, counted
from plaidwork.core.plugins import plugin_install
from plaidwork.core.plugins.plugin_install import Installed, Offer, Part
from plaidwork.gui.language import tr
from plaidwork.gui.task_dialog import TaskDialog, error_text
from plaidwork.gui.tasks import Task
from plaidwork.gui.theme import space
from plaidwork.gui.widgets import Card, Label, button
from plaidwork.gui.widgets.layouts import STRETCH, add, horizontal, vertical

WIDTH = 560
MOST_HEIGHT = 240


class InstallDialog(TaskDialog):
    """Two pages: what to install, and the question. After ``accept`` the plugin is in ``installed``."""

    def __init__(self, parent: QWidget | None = None, folder: Path | None = None) -> None:
        super().__init__("Install a plugin", parent)
        self.offer: Offer | None = None
        self.installed: Installed | None = None
        self._folder = folder
        self.setFixedWidth(WIDTH)
        self._build()

    # -- layout ---------------------------------------------------------------------------------
    def _build(self) -> None:
        self.headline = Label("Install a plugin", "headline", wrap=True)
        self.pages = QStackedWidget()
        self.pages.addWidget(self._build_ask())
        self.pages.addWidget(self._build_offer())
        self.message = Label("", "body", "muted", wrap=True)
        self.back_button = button("Back", self._back)
        self.cancel_button = button("Cancel", self.reject)
        self.go_button = button("Look up", self._go, kind="primary")
        self.go_button.setDefault(True)
        row = horizontal(self.back_button, STRETCH, self.cancel_button, self.go_button, spacing=space.S)
        edge = space.DIALOG_EDGE
        vertical(
            self.headline, self.pages, self.message, STRETCH, row, on=self, spacing=space.M, margins=edge
        )
        self._show_page(0)

    def _build_ask(self) -> QWidget:
        page = QWidget()
        self.field = QLineEdit()
        self.field.setPlaceholderText(tr("my-plugin, or a file that ends in .whl"))
        self.field.setAccessibleName(tr("Name of a package, or a wheel file"))
        self.field.textChanged.connect(self._edited)
        label = Label("Package name or wheel file", "strong")
        label.setBuddy(self.field)
        self.browse_button = button("Choose a file…", self._browse)
        line = horizontal((self.field, 1), self.browse_button, spacing=space.S)
        help_text = (
            "A name is looked up where pip of this computer looks, usually on the network. A file is looked up only "
            "when it needs something that is not here. Nothing is installed before you agree."
        )
        vertical(
            label, line, Label(help_text, "caption", "muted", wrap=True), STRETCH, on=page, spacing=space.XS
        )
        return page

    def _build_offer(self) -> QWidget:
        page = QWidget()
        self._scroll = QScrollArea()
        self._scroll.setFrameShape(QFrame.Shape.NoFrame)
        self._scroll.setWidgetResizable(True)
        self._scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        for part in (self._scroll, self._scroll.viewport()):
            part.setAutoFillBackground(False)
        self._card = Card()
        vertical(self._scroll, on=self._card, margins=(space.M, space.S, space.M, space.S))
        self.where = Label("", elide=True)
        self.site = Label("", "body", "muted", elide=True)
        risk = (
            "The packages that Plaidwork runs with stay as they are. A plugin can do all that you can do on this "
            "computer: install it only if you trust where it comes from."
        )
        vertical(self._card, self.where, self.site, Label(risk, wrap=True), STRETCH, on=page, spacing=space.S)
        return page

    # -- what to install ------------------------------------------------------------------------
    def _browse(self) -> None:
        path, _ = QFileDialog.getOpenFileName(self, tr("Choose a wheel"), str(Path.home()), "Wheels (*.whl)")
        if path:
            self.field.setText(path)
            self._go()

    def _edited(self) -> None:
        self.field.setProperty("invalid", False)
        self.field.update()
        if self.message.isVisible():
            self.message.hide()
            self._fit()
        self.go_button.setEnabled(bool(self.field.text().strip()) and not self.busy())

    def _go(self) -> None:
        if self.busy():
            return
        if self.offer is None:
            what, folder = self.field.text().strip(), self._folder
            if what:
                self._work(
                    lambda task: plugin_install.look_up(what, task.report, folder),
                    self._offered,
                    "Looking it up",
                )
        else:
            offer = self.offer
            self._work(
                lambda task: plugin_install.install(offer, task.report),
                self._done,
                f"Installing {offer.name}",
            )

    def _work(self, call: Callable[[Task], object], done: Callable[..., None], text: str) -> None:
        def ended(value: object) -> None:
            self._show_busy(False)
            done(value)

        self.begin("work", call, ended, self._failed, self._show_text)
        self._show_busy(True)
        self._show_text(text)

    def _show_busy(self, busy: bool) -> None:
        for part in (self.field, self.browse_button, self.back_button, self.go_button):
            part.setEnabled(not busy)
        self.cancel_button.setText(tr("Stop" if busy else "Cancel"))
        self.message.set_color("muted")
        self.message.setVisible(busy)
        self._fit()

    def _show_text(self, text: str) -> None:
        if text:
            self.message.setText(text if text.endswith("…") else f"{_short(text)} …")

    def _failed(self, error: BaseException, details: str) -> None:
        self._show_busy(False)
        self.message.setText(error_text(error))
        self.message.set_color("error")
        self.message.show()
        self._fit()
        if self.offer is None:
            self.field.setProperty("invalid", True)
            self.field.update()
            self.field.setFocus()

    # -- the question ---------------------------------------------------------------------------
    def _offered(self, offer: Offer) -> None:
        self.offer = offer
        self._list_parts(offer)
        replaced = f"Version {offer.replaces} is replaced. " if offer.replaces else ""
        count = len(offer.parts)
        self.where.setText(
            f"{replaced}{counted(count, 'package')} {agree(count, 'goes', 'go')} into the plugin folder:"
        )
        self.site.setText(str(offer.site))
        self._show_page(1)
        self.go_button.setFocus()

    def _list_parts(self, offer: Offer) -> None:
        inner = QWidget()
        own, *others = offer.parts
        column = vertical(Label(str(own), "strong", elide=True), on=inner, spacing=space.XS)
        licence = f"Licence: {offer.licence}" if offer.licence else ""
        text = " ".join(f"{word.rstrip('.')}." for word in (offer.summary, licence) if word)
        if text:
            column.addWidget(Label(text, "body", "muted", wrap=True))
        add(column, *_origin(own))
        if others:
            add(column, space.S, Label("and what it needs:", "body", "muted"))
        for part in others:
            add(column, Label(str(part), elide=True), *_origin(part))
        add(column, STRETCH)
        wide = self._inner - 2 * space.M
        high = max(column.sizeHint().height(), column.totalHeightForWidth(wide)) + 2 * space.S + 2
        self._card.setFixedHeight(min(high, MOST_HEIGHT))
        self._scroll.setWidget(inner)
        inner.setAutoFillBackground(False)

    def _back(self) -> None:
        self.offer = None
        self._show_page(0)
        self.field.setFocus()

    def _show_page(self, page: int) -> None:
        offer = self.offer
        title = f"Install {offer.name} {offer.version}?" if offer is not None else "Install a plugin"
        self.headline.setText(title)
        self.go_button.setText(tr("Install" if page else "Look up"))
        self.go_button.setEnabled(bool(page) or bool(self.field.text().strip()))
        self.back_button.setVisible(bool(page))
        self.message.hide()
        self.pages.setCurrentIndex(page)
        for index in range(self.pages.count()):  # only the page in front takes room
            policy = self.pages.widget(index).sizePolicy()
            kind = policy.Policy.Preferred if index == page else policy.Policy.Ignored
            self.pages.widget(index).setSizePolicy(policy.Policy.Preferred, kind)
        self._fit()

    def _fit(self) -> None:
        """As high as the page in front and the message need."""
        page = self.pages.currentWidget()
        self.pages.setFixedHeight(
            max(page.layout().heightForWidth(self._inner), page.minimumSizeHint().height())
        )
        self.layout().activate()
        self.setFixedHeight(self.layout().totalHeightForWidth(WIDTH))

    @property
    def _inner(self) -> int:
        return WIDTH - 2 * space.DIALOG_EDGE

    def _done(self, installed: Installed) -> None:
        self.installed = installed
        self.accept()

    # -- leaving --------------------------------------------------------------------------------
    def reject(self) -> None:
        """Stop what is under way; without that, close."""
        if self.busy():
            self.drop()
            self._show_busy(False)
            return
        super().reject()

    def closeEvent(self, event: QCloseEvent) -> None:
        """Its frame closes the dialog whatever is under way."""
        self.drop()
        super().closeEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter in the field looks up."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.field.hasFocus():
            self._go()
            return
        super().keyPressEvent(event)


def _origin(part: Part) -> tuple[Label, ...]:
    """Where it comes from, its checksum, and what it writes."""
    half = len(part.sha256) // 2  # a line breaks between words only
    sums = f"{part.sha256[:half]} {part.sha256[half:]}" if part.sha256 else "not told by its source"
    found = [
        Label(f"From {part.source}", "body", "muted", elide=True),
        Label(f"SHA-256 {sums}", "body", "muted", wrap=True),
    ]
    if part.file is not None:
        text = f"Writes {', '.join(part.tops)} and its record, {counted(part.size, 'byte')} in all"
        found.append(Label(text, "body", "muted", elide=True))
    return tuple(found)


def _short(text: str) -> str:
    return text if len(text) <= 100 else f"{text[:100]}"
