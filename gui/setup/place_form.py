"""Where a fit runs: this computer or a cluster; a section of the set-up page."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtWidgets import QWidget

from plaidwork.core.inference.cluster_link import INSTALL
from plaidwork.gui.language import tr
from plaidwork.gui.run_places import RunPlaces
from plaidwork.gui.setup.cluster_dialog import ClusterDialog
from plaidwork.gui.setup.sections import Section
from plaidwork.gui.theme import space
from plaidwork.gui.widgets import Label, SegmentedControl, button
from plaidwork.gui.widgets.layouts import STRETCH, horizontal

HERE, CLUSTER = "here", "cluster"


class PlaceForm(Section):
    """*This computer* or *Cluster*, and the button that describes one; a choice of the program, not of the session."""

    def __init__(self, places: RunPlaces, parent: QWidget | None = None) -> None:
        super().__init__("Run on", parent=parent)
        self._places = places
        self.control = SegmentedControl([(HERE, "This computer"), (CLUSTER, "Cluster")])
        self.control.setAccessibleName(tr("Run on"))
        self.control.changed.connect(self._choose)
        self.describe_button = button("Choose cluster…", self.describe)
        self.describe_button.setToolTip(tr("Say which cluster, and test the connection"))
        self.note = Label("", "caption", "muted", wrap=True)
        row = QWidget()
        horizontal(self.control, self.describe_button, STRETCH, on=row, spacing=space.S)
        self.add(row)
        self.add(self.note)
        places.changed.connect(self._show)
        self._show()

    def _show(self) -> None:
        places, place = self._places, self._places.chosen
        with QSignalBlocker(self.control):
            self.control.set_current(HERE if place is None else CLUSTER)
        for widget in (self.control, self.describe_button):
            widget.setEnabled(places.available)
        if not places.available:
            text = f"Fits run on this computer. To run them on a cluster as well, install dask: {INSTALL}"
        elif place is None:
            text = "Chains run on the processors of this computer."
        else:
            safe = ", encrypted with TLS" if place.tls else ""
            text = f"Fits and searches run on {place.cluster}{safe}, with the same draws as here."
        self.note.setText(text)

    def _choose(self, key: str) -> None:
        if key == CLUSTER and self._places.cluster is None:
            self.describe()
            self._show()  # back to this computer unless one is described
        else:
            self._places.use_cluster(key == CLUSTER)

    def describe(self) -> ClusterDialog:
        """Open the dialog that describes the cluster; accepted, fits run there."""
        dialog = ClusterDialog(self._places, self.window())
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.open()
        return dialog
