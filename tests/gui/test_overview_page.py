"""Views together: the page of a dataset, the picture, one choice per view in the set-up, the example."""

from __future__ import annotations

import numpy as np
import pytest
from gui_toys import settle
from PySide6.QtCore import QPointF, Qt
from PySide6.QtWidgets import QApplication

from plaidwork.core.data.dataset import Dataset
from plaidwork.core.data.overview import overview
from plaidwork.core.data.samples import bundled_samples
from plaidwork.core.plugins.registry import Registry
from plaidwork.core.session.session import Session
from plaidwork.gui.data.overview_page import OverviewPage
from plaidwork.gui.data.presence import PresencePicture, band_image
from plaidwork.gui.main_window import MainWindow
from plaidwork.gui.run_pages import data_pages
from plaidwork.gui.settings import Settings
from plaidwork.gui.setup import SetupPage
from plaidwork.gui.setup.matrix_edit import MatrixEdit
from plaidwork.gui.setup.presets import PresetStore
from plaidwork.gui.tasks import wait_for_tasks
from plaidwork.gui.workbench import Workbench

RNG = np.random.default_rng(6)
WAIT = 30_000


@pytest.fixture(autouse=True)
def finished(qapp):
    yield
    settle()


def made(name, values, start=0):
    rows = tuple(f"s{i + start}" for i in range(len(values)))
    columns = tuple(f"{name}{j}" for j in range(values.shape[1]))
    return Dataset(name, values.astype(float), rows, columns, row_label="patients")


@pytest.fixture
def bench(qapp):
    bench = Workbench(Registry().load())
    bench.add_dataset(made("drugs", RNG.normal(size=(12, 5))))
    bench.add_dataset(made("bits", RNG.random((10, 9)) < 0.4, start=4))
    bench.add_dataset(made("small", RNG.integers(0, 3, (12, 3))))
    return bench


def test_picture_shows_who_lacks_what(qtbot):
    found = overview([made("a", np.ones((6, 2))), made("b", np.ones((4, 3)), start=4)])
    picture = PresencePicture()
    qtbot.addWidget(picture)
    picture.set_overview(found, "patients")
    picture.resize(600, picture.sizeHint().height())
    picture.show()
    area = picture._area(1)
    assert picture.read_out(QPointF(area.left() + 3, area.center().y())).startswith("b, s4: 100 %")
    assert picture.read_out(QPointF(area.left() + area.width() * 0.5, area.center().y())) == "b, s2: missing"
    assert picture.read_out(QPointF(1, 1)) == ""
    assert "a: 6 patients, 2 features" in picture.accessibleName()


def test_bands_are_averaged_not_sampled():
    present = np.ones(10_000)
    present[5000] = 0.0
    image = band_image(present, 100)
    alphas = [image.pixelColor(x, 0).alpha() for x in range(100)]
    assert alphas[50] == round(255 * 0.99)
    assert set(alphas[:50] + alphas[51:]) == {255}
    assert band_image(np.array([1.0, 0.0]), 500).width() == 2


def test_page_of_views(qtbot, bench):
    assert [info.title for info in data_pages(bench, "drugs")] == ["Data", "Views together"]
    page = OverviewPage(bench, "drugs")
    qtbot.addWidget(page)
    page.resize(900, 700)
    page.show()
    qtbot.waitUntil(lambda: len(page.cards) == 3, timeout=WAIT)
    assert page._headline.text() == "14 patients in 3 views, 8 of them in all"
    assert "The values of 1 view can be taken in two ways" in page._line.text()
    assert [card.warning.text != "" for card in page.cards] == [False, False, True]
    assert "zeros and ones" in page.cards[1].line.text()
    bench.editing.remove([], ["bits"])
    bench.editing.remove([], ["small"])
    qtbot.waitUntil(page._state.isVisible, timeout=WAIT)
    assert page._state.title == "No other view has these samples"


def edit_of(page) -> MatrixEdit:
    return page.form.field("likelihoods").editor


def pick(qtbot, combo, text):
    combo.setFocus()
    combo.showPopup()
    combo.view().setCurrentIndex(combo.model().index(combo.findText(text), 0))
    qtbot.keyClick(combo.view(), Qt.Key.Key_Return)


def test_a_choice_for_each_view(qtbot, bench, tmp_path):
    page = SetupPage(bench, presets=PresetStore(tmp_path / "presets"))
    qtbot.addWidget(page)
    page.resize(900, 900)
    page.show()
    assert page.spec.inputs[0].many, "several matrices of the same samples ask for a model that takes many"
    assert page.inputs() == {"views": ["drugs", "bits", "small"]}
    edit = edit_of(page)
    qtbot.waitUntil(lambda: bool(edit.lines[2].warning), timeout=WAIT)
    assert [line.name for line in edit.lines] == ["drugs", "bits", "small"]
    assert "taken as yes or no (Bernoulli)" in edit.lines[1]._note.text()
    assert "classes and ratings" in edit.lines[2].warning
    pick(qtbot, edit.lines[2].choice, "Numbers (Gaussian)")
    assert edit.lines[2].warning == ""
    assert page.settings()[0]["likelihoods"] == "small = gaussian"
    boxes = page.inputs_form.field("views")._checks
    boxes["small"].setFocus()
    qtbot.keyClick(boxes["small"], Qt.Key.Key_Space)
    assert page.settings()[0]["likelihoods"] == ""
    qtbot.keyClick(boxes["small"], Qt.Key.Key_Space)
    assert page.settings()[0]["likelihoods"] == "small = gaussian"
    with qtbot.waitSignal(page.start_requested, timeout=WAIT) as caught:
        qtbot.mouseClick(page.foot.start, Qt.MouseButton.LeftButton)
    assert caught.args[0].params["likelihoods"] == "small = gaussian"
    page.reset()
    assert page.settings()[0]["likelihoods"] == ""
    page.fill(params={"likelihoods": "poisson, bits = bernoulli"})
    assert [line.choice.text_value() for line in edit.lines] == ["poisson", "bernoulli", "poisson"]


@pytest.fixture
def window(qapp, tmp_path, monkeypatch):
    monkeypatch.setenv("PLAIDWORK_CONFIG", str(tmp_path / "config"))
    monkeypatch.setenv("PLAIDWORK_STATE", str(tmp_path / "state"))
    made = MainWindow(Workbench(Registry().load()), Settings(tmp_path / "config"))
    made.resize(1280, 800)
    made.show()
    yield made
    wait_for_tasks()
    qapp.processEvents()
    made.workbench.set_session(Session())
    made.close()
    made.deleteLater()


@pytest.mark.long
def test_the_example_of_several_views_opens_ready_to_start(qtbot, window):
    sample = next(sample for sample in bundled_samples() if sample.id == "leukaemia")
    window.welcome.set_examples([(sample, "model")])
    QApplication.processEvents()
    card = window.welcome._cards[0]
    card.setFocus()
    qtbot.keyClick(card, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: window.setup_page is not None, timeout=WAIT)
    page = window.setup_page
    assert page.inputs() == {"views": ["drugs", "mutations"]}
    qtbot.waitUntil(lambda: page.launch.check.ready, timeout=WAIT)
    assert not page.problems()
    assert page.side_panel().views.overview is not None or page.side_panel()._looking is not None
