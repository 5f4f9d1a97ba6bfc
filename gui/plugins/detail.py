"""The card of the selected plugin: what it brings, or why it failed; and what may be done with it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFontDatabase, QGuiApplication, QResizeEvent
from PySide6.QtWidgets import (
    QFrame,
    QPlainTextEdit,
    QProgressBar,
    QPushButton,
    QSizePolicy,
    QStackedWidget,
    QWidget,
)

from plaidwork.core.draws.counting import counted
from plaidwork.core.plugins.registry import PluginInfo
from plaidwork.gui.icons import pixmap
from plaidwork.gui.language import tr
from plaidwork.gui.plugins import facts
from plaidwork.gui.theme import size, space, theme
from plaidwork.gui.widgets import Card, Label, StatePane, button
from plaidwork.gui.widgets.layouts import STRETCH, horizontal, vertical
from plaidwork.gui.widgets.state_pane import PaneAction

_SHOWN_MODELS = 3
_CODE_LINES = 4
HEIGHT = 268
_ANY_HEIGHT = 16_777_215  # QWIDGETSIZE_MAX
ACTIONS = ("enable", "disable", "check", "reload", "uninstall", "show_folder")


class DetailCard(Card):
    """Shows one plugin, or a state when none is selected. ``action_requested`` names what the user wants done."""

    action_requested = Signal(str)
    """One of ``ACTIONS``, or ``cancel_check``."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, color="sunken")
        self.info: PluginInfo | None = None
        self._details = ""
        self._icon_look = ("", "muted")
        self._build()
        self.setMinimumHeight(HEIGHT)
        theme().changed.connect(self._restyle)
        self._restyle()

    # -- layout ---------------------------------------------------------------------------------
    def _build(self) -> None:
        self._icon = Label()
        self.title = Label("", "strong", elide=True)
        self.copy_button = button("Copy details", self._copy)
        self.text = Label("", wrap=True)
        self.lines = [Label("", "body", "muted", elide=True) for _ in range(_SHOWN_MODELS + 1)]
        self.code = CodeBox()
        self.to_do = Label("", "body", "muted", wrap=True)
        self.checked = Label("", "body", "muted", elide=True)
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.bar.setRange(0, 1000)
        self.bar.setFixedSize(160, size.PROGRESS)
        self.doing = Label("", "body", "muted", elide=True)
        self.cancel_button = button("Cancel", lambda: self.action_requested.emit("cancel_check"))
        self.buttons: dict[str, QPushButton] = {}
        labels = {
            "enable": "Enable", "disable": "Disable", "check": "Check…", "reload": "Reload",
            "uninstall": "Uninstall…", "show_folder": "Open folder",
        }  # fmt: skip
        for key in ACTIONS:
            self.buttons[key] = button(labels[key], partial(self.action_requested.emit, key))
            self.buttons[key].setObjectName(key)
        self._nothing = StatePane("plug", "")
        self._stack = QStackedWidget()
        self._stack.addWidget(self._nothing)
        self._stack.addWidget(self._build_plugin())
        vertical(self._stack, on=self, margins=(space.L, space.M, space.L, space.M))

    def _build_plugin(self) -> QWidget:
        page = QWidget()
        head = horizontal(self._icon, (self.title, 1), self.copy_button, spacing=space.S)
        self._progress = QWidget()
        horizontal(self.bar, (self.doing, 1), self.cancel_button, on=self._progress, spacing=space.S)
        row = horizontal(
            *(self.buttons[key] for key in ("enable", "disable", "check", "reload", "uninstall")),
            STRETCH,
            self.buttons["show_folder"],
            spacing=space.S,
        )
        vertical(
            head,
            self.text,
            *self.lines,
            self.code,
            self.to_do,
            self.checked,
            STRETCH,
            self._progress,
            row,
            on=page,
            spacing=space.S,
        )
        return page

    # -- content --------------------------------------------------------------------------------
    def show_nothing(self, title: str, text: str, actions: Sequence[PaneAction] = ()) -> None:
        """No plugin is selected."""
        self.info = None
        self.setMaximumHeight(HEIGHT)  # the table gets the room
        self._nothing.set("plug", title, text, actions)
        self._stack.setCurrentIndex(0)

    def show_plugin(
        self,
        info: PluginInfo,
        models: Sequence[tuple[str, str]],
        check: dict[str, Any] | None,
        *,
        developer: bool = False,
        removable: bool = False,
        busy: str = "",
    ) -> None:
        """Show a plugin.

        Parameters
        ----------
        models : title and summary of each model it brings
        check : what is known of its conformance
        developer : offer to load it again while it works
        removable : it was installed from this window
        busy : what is being done with a plugin just now; no other action is offered then
        """
        self.setMaximumHeight(_ANY_HEIGHT)
        self.info = info
        name, color, _ = facts.state_of(info)
        self._icon_look = (name, color)
        usable = info.state == "ok"
        cause = facts.cause_of(info) if info.state == "failed" else None
        self.title.setText(info.title if usable else facts.failed_title(info))
        self._set(self.text, facts.sentence(info))
        self._set_lines(info, models, usable)
        failures = facts.check_report(check) if usable else ""
        self.code.set_text(cause.text if cause else failures)
        self._set(self.to_do, facts.what_to_do(info))
        self._set(self.checked, facts.check_sentence(check) if usable else "")
        self._details = facts.details(info)
        if check:
            self._details += f"\n\n{facts.check_sentence(check)}\n{facts.check_report(check)}".rstrip()
        self._offer(info, developer, removable, busy)
        self._stack.setCurrentIndex(1)
        self._restyle()

    def _set_lines(self, info: PluginInfo, models: Sequence[tuple[str, str]], usable: bool) -> None:
        texts = [f"{title}: {summary}" for title, summary in models[:_SHOWN_MODELS]]
        more = len(models) - _SHOWN_MODELS
        rest = facts.also_brings(info)
        if more > 0:
            rest = f"{counted(more, 'more model')}" + (f", {rest}" if rest else "")
        if usable:
            texts.append(f"Also: {rest}." if rest and texts else f"Brings {rest}." if rest else "")
            if not any(texts):
                texts[0] = "Brings nothing yet: no hook returns anything."
        for index, label in enumerate(self.lines):
            self._set(label, texts[index] if usable and index < len(texts) else "")
            label.set_color("text" if index < min(len(models), _SHOWN_MODELS) else "muted")

    def _offer(self, info: PluginInfo, developer: bool, removable: bool, busy: str) -> None:
        shown = {
            "enable": info.state == "disabled",
            "disable": info.state != "disabled",
            "check": info.state == "ok" and bool(info.models),
            "reload": info.source != "built-in"
            and (info.state in ("failed", "incompatible") or (developer and info.state == "ok")),
            "uninstall": removable,
            "show_folder": info.path is not None,
        }
        for key, made in self.buttons.items():
            made.setVisible(shown[key])
            made.setEnabled(not busy or key == "show_folder")
        self._progress.setVisible(bool(busy))
        self.bar.hide()
        self.cancel_button.hide()
        self.doing.setText(tr(busy))

    def set_progress(self, share: float, text: str) -> None:
        """How far the checks are."""
        for part in (self._progress, self.bar, self.cancel_button):
            part.show()
        self.bar.setValue(round(1000 * share))
        self.doing.setText(tr(text))

    @staticmethod
    def _set(label: Label, text: str) -> None:
        label.setText(text)
        label.setVisible(bool(text))

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self._details)

    def _restyle(self) -> None:
        name, color = self._icon_look
        if name:
            self._icon.setPixmap(pixmap(name, size.ICON, color, self.devicePixelRatioF()))
        self.update()


class CodeBox(QPlainTextEdit):
    """Lines of code or of an error: fixed pitch, to be selected and copied."""

    def __init__(self) -> None:
        super().__init__()
        self.setReadOnly(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.setAccessibleName(tr("Cause"))
        self.setTabChangesFocus(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.setBackgroundRole(self.palette().ColorRole.Midlight)
        self.viewport().setBackgroundRole(self.palette().ColorRole.Midlight)
        self.document().setDocumentMargin(space.S)
        theme().changed.connect(self._restyle)
        self._restyle()

    def set_text(self, text: str) -> None:
        """Show the text as high as its lines, up to a few; nothing hides the box."""
        self.setPlainText(text)
        self.setVisible(bool(text))
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """The height of the lines, and of the scroll bar when a line is too long."""
        metrics, lines = self.fontMetrics(), self.toPlainText().split("\n")
        room = self.width() - 2 * space.S - 2
        bar = size.SCROLL_BAR if any(metrics.horizontalAdvance(line) > room for line in lines) else 0
        self.setFixedHeight(
            round(min(len(lines), _CODE_LINES) * metrics.lineSpacing()) + 2 * space.S + 2 + bar
        )

    def _restyle(self) -> None:
        font = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
        font.setPointSizeF(theme().font("caption").pointSizeF())
        self.setFont(font)
