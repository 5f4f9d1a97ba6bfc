"""The bottom dock: the log of the run in front, and the jobs of the session."""

from __future__ import annotations

import datetime as dt

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QFrame,
    QHeaderView,
    QStackedWidget,
    QTabBar,
    QTreeWidget,
    QTreeWidgetItem,
    QWidget,
)

from plaidwork.core.draws.counting import counted
from plaidwork.core.inference.run import LogLine, Run
from plaidwork.gui.icons import icon
from plaidwork.gui.language import tr
from plaidwork.gui.numbers import format_count, format_duration
from plaidwork.gui.session_tree import run_icon
from plaidwork.gui.theme import space
from plaidwork.gui.widgets import tool_button
from plaidwork.gui.widgets.layouts import horizontal, vertical
from plaidwork.gui.workbench import Workbench

_LEVEL_ICONS = {"info": ("info", "muted"), "warning": ("warning", "warn"), "error": ("error", "error")}


def _list(columns: int, name: str) -> QTreeWidget:
    made = QTreeWidget()
    made.setColumnCount(columns)
    made.setHeaderHidden(True)
    made.setRootIsDecorated(False)
    made.setFrameShape(QFrame.Shape.NoFrame)
    made.setUniformRowHeights(True)
    made.setAccessibleName(tr(name))
    made.header().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
    made.header().setStretchLastSection(True)
    return made


class LogPanel(QWidget):
    """Two tabs: *Log* of the run shown, *Jobs* of the whole session."""

    def __init__(self, workbench: Workbench, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._workbench = workbench
        self._run: Run | None = None
        self._shown = 0
        self.tabs = QTabBar()
        self.tabs.setDrawBase(False)
        self.tabs.addTab(tr("Log"))
        self.tabs.addTab(tr("Jobs"))
        self._log = _list(2, "Log")
        self._jobs = _list(4, "Jobs")
        self._stack = QStackedWidget()
        self._stack.addWidget(self._log)
        self._stack.addWidget(self._jobs)
        self.tabs.currentChanged.connect(self._stack.setCurrentIndex)
        head = horizontal(
            (self.tabs, 1), tool_button("copy", "Copy the log", self.copy), margins=(space.S, 0, space.S, 0)
        )
        vertical(head, (self._stack, 1), on=self, spacing=0, margins=(0, 0, 0, space.S))
        for signal in (workbench.run_changed, workbench.runs_changed, workbench.session_replaced):
            signal.connect(lambda *_: self.refresh())
        self.refresh()

    def set_run(self, run: Run | None) -> None:
        """Show the log of this run."""
        if run is not self._run:
            self._run = run
            self._log.clear()
            self._shown = 0
        self.refresh()

    def refresh(self) -> None:
        """Add lines that are new and rewrite the jobs."""
        lines = self._run.log if self._run is not None else []
        for line in lines[self._shown :]:
            self._log.addTopLevelItem(self._line(line))
        if len(lines) > self._shown:
            self._log.scrollToBottom()
        self._shown = len(lines)
        runs = list(self._workbench.session.runs.values())
        self.tabs.setTabText(1, tr(f"Jobs  {len(runs)}" if runs else "Jobs"))
        self._jobs.clear()
        for run in runs:
            done = f"{format_count(run.sweeps_done)} of {counted(run.sweeps_planned, 'sweep')}"
            item = QTreeWidgetItem(
                [run.title, tr(run.status), tr(done), f"{format_duration(run.cpu_seconds)} CPU"]
            )
            item.setIcon(0, icon(*run_icon(self._workbench, run)))
            self._jobs.addTopLevelItem(item)

    @staticmethod
    def _line(line: LogLine) -> QTreeWidgetItem:
        moment = dt.datetime.fromisoformat(line.time).astimezone()
        item = QTreeWidgetItem([f"{moment:%H:%M:%S}", tr(line.text)])
        item.setIcon(1, icon(*_LEVEL_ICONS.get(line.level, _LEVEL_ICONS["info"])))
        item.setToolTip(1, tr(line.text))
        item.setTextAlignment(0, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        return item

    def copy(self) -> None:
        """Copy the whole log as text."""
        lines = self._run.log if self._run is not None else []
        QGuiApplication.clipboard().setText("\n".join(f"{x.time}\t{x.level}\t{x.text}" for x in lines))
