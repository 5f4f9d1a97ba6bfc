"""Describe the cluster on which fits run, and try it in the background."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QFileDialog, QLineEdit, QWidget

from plaidwork.core.draws.counting import agree, counted
from plaidwork.core.errors import SettingError
from plaidwork.core.inference.cluster_link import TLS, WorkerFacts, differences, local_size
from plaidwork.core.inference.place import Place
from plaidwork.gui.language import tr
from plaidwork.gui.run_places import RunPlaces
from plaidwork.gui.task_dialog import TaskDialog, error_text
from plaidwork.gui.tasks import Task
from plaidwork.gui.theme import space
from plaidwork.gui.widgets import Label, button
from plaidwork.gui.widgets.layouts import STRETCH, grid_layout, horizontal, vertical

WIDTH = 600
_FILES = {"ca": "Authority's certificate", "cert": "Your certificate", "key": "Your key"}
_ABOUT = (
    "The address of a dask scheduler (tcp://10.0.0.1:8786), or local:4 for four processes of this computer."
)
_TRUST = (
    "Whoever may connect to a dask scheduler may run programs on its workers, and its workers may send this computer programs to run. "
    "Use only a cluster that you trust, within a network that you trust or with these three files (tls://…)."
)


@dataclass(frozen=True)
class Tried:
    """What a test found: workers, chains at a time, sentences on other versions, address of the dashboard."""

    workers: list[WorkerFacts]
    threads: int
    wrong: list[str]
    dashboard: str

    @property
    def headline(self) -> str:
        count = len(self.workers)
        text = f"{counted(count, 'worker')} {agree(count, 'answers', 'answer')}, {counted(self.threads, 'chain')} at a time."
        return f"{text} No fit would start, because versions differ." if self.wrong else text

    @property
    def lines(self) -> list[str]:
        """What differs, then versions, and which workers have them."""
        alike = defaultdict(list)
        for worker in self.workers:
            alike[", ".join(f"{name} {version}" for name, version in worker.versions.items())].append(worker)
        found = list(self.wrong)
        for text, workers in alike.items():
            if text:
                every = len(workers) == len(self.workers)
                who = "all workers" if every else ", ".join(worker.address for worker in workers)
                found.append(f"On {who}: {text}.")
        return found


class ClusterDialog(TaskDialog):
    """Address and certificates; *Test connection* asks the workers for their versions. Accepted, fits run there."""

    def __init__(self, places: RunPlaces, parent: QWidget | None = None) -> None:
        super().__init__("Run on a cluster", parent)
        self._places = places
        self._dashboard = ""
        self.setFixedWidth(WIDTH)
        self.address = QLineEdit()
        self.address.setAccessibleName(tr("Address of the cluster"))
        self.address.setPlaceholderText(tr("tcp://10.0.0.1:8786"))
        self.files = {name: QLineEdit() for name in _FILES}
        self._build()
        place = places.cluster
        if place is not None:
            self.address.setText(place.cluster)
            tls = place.tls or TLS()
            for name, text in (("ca", tls.ca), ("cert", tls.cert), ("key", tls.key)):
                self.files[name].setText(text)
        for field in (self.address, *self.files.values()):
            field.textChanged.connect(self._edited)
        self._edited()
        self.address.setFocus()

    # -- layout ---------------------------------------------------------------------------------
    def _build(self) -> None:
        label = Label("Address", "strong")
        label.setBuddy(self.address)
        self.test_button = button("Test connection", self.test)
        self.verdict = Label("", "strong", wrap=True)
        self.details = Label("", "body", "muted", wrap=True)
        self.dashboard = Label("", "body", "muted", elide=True)
        self.open_button = button("Open in the browser", self._open_dashboard)
        self._dashboard_row = QWidget()
        horizontal((self.dashboard, 1), self.open_button, on=self._dashboard_row, spacing=space.S)
        self.cancel_button = button("Cancel", self.reject)
        self.use_button = button("Use this cluster", self._use, kind="primary")
        self.use_button.setDefault(True)
        foot = horizontal(
            self.test_button, STRETCH, self.cancel_button, self.use_button,
            spacing=space.S, margins=(0, space.S, 0, 0),
        )  # fmt: skip
        vertical(
            Label("Run on a cluster", "headline"), label, self.address, Label(_ABOUT, "caption", "muted", wrap=True),
            self._file_rows(), Label(_TRUST, "caption", "muted", wrap=True),
            self.verdict, self.details, self._dashboard_row, STRETCH, foot,
            on=self, spacing=space.S, margins=space.DIALOG_EDGE,
        )  # fmt: skip

    def _file_rows(self) -> QWidget:
        inner = QWidget()
        grid = grid_layout(on=inner, spacing=(space.S, space.XS))
        grid.addWidget(Label("Files for an encrypted connection, if it is one", "strong"), 0, 0, 1, 3)
        for row, (name, title) in enumerate(_FILES.items(), start=1):
            field = self.files[name]
            field.setAccessibleName(tr(title))
            field.setPlaceholderText(tr("None"))
            choose = button("Choose…", partial(self._ask_file, name))
            choose.setAccessibleName(tr(f"Choose a file: {title}"))
            for column, widget in enumerate((Label(title), field, choose)):
                grid.addWidget(widget, row, column)
        grid.setColumnStretch(1, 1)
        return inner

    # -- what is described ----------------------------------------------------------------------
    def place(self) -> Place:
        """What the fields say. Raises ``SettingError``."""
        address = self.address.text().strip()
        local_size(address)
        files = {name: field.text().strip() for name, field in self.files.items()}
        return Place(cluster=address, tls=TLS(**files) if any(files.values()) else None)

    def _edited(self) -> None:
        self.drop("test")
        self._tell("", "muted", [])
        for one in (self.test_button, self.use_button):
            one.setEnabled(bool(self.address.text().strip()))

    def _ask_file(self, name: str) -> None:
        start = Path(self.files[name].text()).parent if self.files[name].text() else Path.home()
        path, _ = QFileDialog.getOpenFileName(
            self, _FILES[name], str(start), "Certificates and keys (*.pem *.crt *.key);;All files (*)"
        )
        if path:
            self.files[name].setText(path)

    def _use(self) -> None:
        try:
            place = self.place()
        except SettingError as error:
            self._tell(str(error), "error", [])
            return
        self._places.describe(place)
        self.accept()

    # -- trying it ------------------------------------------------------------------------------
    def test(self) -> None:
        """Connect and ask, in the background; pressed again, stop waiting for it."""
        if self.busy("test"):
            self._edited()
            return
        try:
            place = self.place()
        except SettingError as error:
            self._tell(str(error), "error", [])
            return
        clusters = self._places.clusters

        def work(task: Task) -> Tried:
            clusters.count(place, 1)
            try:
                cluster = clusters.take(place)
                workers = cluster.workers()
                if not task.cancelled:
                    clusters.keep(place)  # while its dashboard may be looked at; `leave` lets go of it
                return Tried(workers, cluster.threads, differences(workers), cluster.dashboard)
            finally:
                clusters.count(place, -1)

        self.begin("test", work, self._tried, self._not_tried, minutes=True)
        self._tell("Connecting. This may take half a minute.", "muted", [])

    def _tried(self, found: Tried) -> None:
        self._tell(found.headline, "error" if found.wrong else "ok", found.lines, found.dashboard)

    def _not_tried(self, error: BaseException, details: str) -> None:
        self._tell(error_text(error), "error", [])

    def _tell(self, verdict: str, color: str, lines: list[str], dashboard: str = "") -> None:
        self.verdict.setText(verdict)
        self.verdict.set_color(color)
        self.details.setText("\n".join(lines))
        self._dashboard = dashboard
        self.dashboard.setText(f"Dashboard: {dashboard}")
        self.verdict.setVisible(bool(verdict))
        self.details.setVisible(bool(lines))
        self._dashboard_row.setVisible(bool(dashboard))
        self.open_button.setVisible(QUrl(dashboard).scheme() in ("http", "https"))
        self.test_button.setText(tr("Stop waiting" if self.busy("test") else "Test connection"))
        self.layout().activate()
        self.setFixedHeight(self.layout().totalHeightForWidth(WIDTH))

    def _open_dashboard(self) -> None:
        QDesktopServices.openUrl(QUrl(self._dashboard))

    def leave(self) -> None:
        """A cluster that was tried and not chosen is let go of."""
        super().leave()
        self._places.clusters.keep(self._places.chosen)
