"""Images in the import dialog and in the dock, from halves of an npz file to a set-up; what does not fit is said."""

from __future__ import annotations

import gzip
import struct

import numpy as np
import pytest
from gui_toys import settle
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QCheckBox

from plaidwork.core.contract.spec import Input
from plaidwork.core.data.dataset import Dataset
from plaidwork.gui.data import ImportDialog
from plaidwork.gui.data.data_panel import DataPanel
from plaidwork.gui.setup.input_field import InputField

RNG = np.random.default_rng(0)


@pytest.fixture(autouse=True)
def finished(qapp):
    yield
    settle()


def shown(qtbot, path) -> ImportDialog:
    dialog = ImportDialog(path)
    qtbot.addWidget(dialog)
    dialog.show()
    qtbot.waitUntil(lambda: not dialog.busy(), timeout=20_000)
    QApplication.processEvents()
    return dialog


def imported(qtbot, dialog) -> Dataset:
    with qtbot.waitSignal(dialog.accepted, timeout=20_000):
        qtbot.mouseClick(dialog.import_button, Qt.MouseButton.LeftButton)
    return dialog.dataset


def halves(path, **more):
    arrays = {
        "image_shape": np.array([4, 6]),
        "X_train": RNG.normal(size=(20, 24)),
        "y_train": np.arange(20) % 2,
        "X_test": RNG.normal(size=(9, 24)),
        "y_test": np.arange(9) % 2,
    }
    np.savez(path, **{**arrays, **more})


def test_from_a_file_to_the_labels_of_a_fit(qtbot, tmp_path):
    halves(tmp_path / "digits.npz")
    dialog = shown(qtbot, tmp_path / "digits.npz")
    strip = dialog.pane.images
    assert strip.isVisible()
    assert strip.images.shape == (12, 4, 6)
    assert 1 < strip.shown <= 12
    light = strip.grab().toImage()
    assert len({light.pixelColor(x, 20).rgb() for x in range(0, 300, 3)}) > 10
    assert "Adds one matrix, 29 images × 24 pixels" in dialog._foot.text()
    data = imported(qtbot, dialog)
    session = {data.name: data}
    for name, label, title in (("y", "Labels", "label"), ("split", "Split", "split")):
        item = Input(name, "labels", "categorical", dims=("sample",), label=label, required=name == "y")
        field = InputField(item)
        qtbot.addWidget(field)
        field.set_datasets(session)
        assert field.chosen == [f"digits:row:{title}"]
    panel = DataPanel()
    qtbot.addWidget(panel)
    with qtbot.waitSignal(panel.computed, timeout=20_000):
        panel.set_dataset(data)
    assert panel.images.images.shape == (12, 4, 6)
    assert panel._images_title.text() == "Images of 4 × 6 pixels"
    panel.set_dataset(None)
    assert not panel.images.images.size


def test_one_half_can_be_chosen(qtbot, tmp_path):
    halves(tmp_path / "digits.npz")
    dialog = shown(qtbot, tmp_path / "digits.npz")
    combo = dialog.options.field("array").editor
    assert combo.currentText() == "X_train + X_test, with the split"
    combo.setFocus()
    for _ in range(combo.findText("X_test  9 × 24, float64")):
        qtbot.keyClick(combo, Qt.Key.Key_Down)
    combo.activated.emit(combo.currentIndex())
    qtbot.waitUntil(lambda: not dialog.busy(), timeout=20_000)
    data = imported(qtbot, dialog)
    assert (data.shape, data.image_shape, list(data.row_table)) == ((9, 24), (4, 6), ["label"])


def test_a_shape_that_does_not_fit_is_said_and_can_be_left_out(qtbot, tmp_path):
    halves(tmp_path / "digits.npz", image_shape=np.array([5, 6]))
    dialog = shown(qtbot, tmp_path / "digits.npz")
    assert not dialog.import_button.isEnabled()
    message = "digits.npz: image_shape says 5 × 6 = 30 pixels; X_train + X_test has 24 columns. Mend it"
    assert dialog._foot.text().startswith(message)
    (box,) = dialog.issues.findChildren(QCheckBox)
    assert box.text() == "Read the rows as plain numbers"
    qtbot.mouseClick(box, Qt.MouseButton.LeftButton, pos=box.rect().center() / 2)
    qtbot.waitUntil(lambda: not dialog.busy() and dialog.import_button.isEnabled(), timeout=20_000)
    assert not dialog.pane.images.isVisible()
    assert imported(qtbot, dialog).image_shape == ()


def test_idx_images_are_shown(qtbot, tmp_path):
    images, labels = RNG.integers(0, 255, (14, 5, 3), dtype=np.uint8), np.arange(14, dtype=np.uint8) % 3
    for name, array in (("t-images-idx3-ubyte.gz", images), ("t-labels-idx1-ubyte.gz", labels)):
        with gzip.open(tmp_path / name, "wb") as file:
            file.write(struct.pack(">4B", 0, 0, 8, array.ndim) + struct.pack(f">{array.ndim}I", *array.shape))
            file.write(array.tobytes())
    dialog = shown(qtbot, tmp_path / "t-images-idx3-ubyte.gz")
    np.testing.assert_array_equal(dialog.pane.images.images, images[:12])
    data = imported(qtbot, dialog)
    assert (data.image_shape, set(data.row_table["label"])) == ((5, 3), {"0", "1", "2"})


def test_plain_tables_have_no_pictures(qtbot, tmp_path):
    (tmp_path / "a.csv").write_text("s,g,h\na,1,2\nb,3,4\n", encoding="utf-8")
    assert not shown(qtbot, tmp_path / "a.csv").pane.images.isVisible()
