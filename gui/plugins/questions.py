"""What the Plugins window asks before it does something, and how a plugin of one's own begins."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QLineEdit, QWidget

from plaidwork.core.draws.counting import agree, counted
from plaidwork.core.plugins.registry import PluginInfo
from plaidwork.gui import dialogs
from plaidwork.gui.language import tr
from plaidwork.gui.plugins.facts import NEW_COMMAND
from plaidwork.gui.theme import space
from plaidwork.gui.widgets import button
from plaidwork.gui.widgets.layouts import horizontal


def ask_level(parent: QWidget, info: PluginInfo) -> str:
    """How long the models of a plugin are to be checked: ``quick``, ``full``, or ``cancel``."""
    count = len(info.models)
    text = (
        f"Every rule for models is tried on {agree(count, 'its model', 'its ' + counted(count, 'model'))}, in a process "
        "of its own; you can go on working. The quick level takes up to a minute or two per model, the long one "
        "several times as much: it finds smaller errors of a sampler."
    )
    choices = (("cancel", "Cancel"), ("full", "Check longer"), ("quick", "Check"))
    return dialogs.ask(parent, f"Check {info.title}?", text, choices, "quick")


def ask_uninstall(parent: QWidget, info: PluginInfo, gone: Sequence[str]) -> bool:
    """Whether a plugin is to go, with all distributions in ``gone``, its own first."""
    others = f" {', '.join(gone[1:])} came with it and goes too." if len(gone) > 1 else ""
    text = f"It is removed from the plugin folder.{others} Sessions made with it open and show their results."
    choices = (("cancel", "Cancel"), ("uninstall", "Uninstall"))
    return dialogs.ask(parent, f"Uninstall {info.title}?", text, choices, "uninstall") == "uninstall"


def show_new_command(parent: QWidget) -> None:
    """The command that writes a package to begin from."""
    dialog = dialogs.Dialog(
        parent,
        "Write your own plugin",
        "This command writes a package with a small model that works, its tests and sample data. Run it in a "
        "terminal, in the folder where the package should be; then change the model step by step.",
    )
    command = QLineEdit(NEW_COMMAND)
    command.setReadOnly(True)
    command.setAccessibleName(tr("Command"))
    copy = button("Copy", lambda: QGuiApplication.clipboard().setText(NEW_COMMAND))
    line = QWidget()
    horizontal((command, 1), copy, on=line, spacing=space.S)
    dialog.add(line)
    dialog.add_buttons((("close", "Close"),), "close")
    dialog.exec()
    dialog.deleteLater()
