"""Images through the window: an npz file with halves, its import, labels and split, a fit, tiles with their dock; bad data."""

from __future__ import annotations

import numpy as np
import pytest

from plaidwork.gui.results.beside_panel import BesidePanel
from plaidwork.gui.run_pages import run_pages
from tests.end2end.test_window import click, import_file, window  # noqa: F401


def write_bars(path, rows: int = 90, classes: int = 2, image_shape=(6, 5)) -> None:
    """Images with a bar whose row tells the class."""
    rng = np.random.default_rng(4)
    codes = np.arange(rows) % classes
    images = rng.normal(0, 0.5, (rows, 6, 5))
    images[np.arange(rows), 1 + 3 * codes] += 2.0
    x = images.reshape(rows, 30)
    np.savez(
        path,
        X_train=x[:60], y_train=codes[:60], X_test=x[60:], y_test=codes[60:], image_shape=np.array(image_shape),
    )  # fmt: skip


@pytest.mark.slow
def test_from_halves_to_tiles(window, qtbot, tmp_path, monkeypatch):  # noqa: F811
    write_bars(tmp_path / "bars.npz")
    import_file(qtbot, window, tmp_path / "bars.npz", monkeypatch)
    qtbot.waitUntil(lambda: window.setup_page is not None, timeout=20_000)
    page = window.setup_page
    page.set_model("rank_factor_vb")
    assert page.inputs() == {"X": ["bars"], "y": ["bars:row:label"], "split": ["bars:row:split"]}
    page.form.set_values({**page.form.values(), "n_factors": 3})
    with qtbot.waitSignal(page.start_requested, timeout=60_000):
        click(qtbot, page.foot.start)
    workbench = window.workbench
    (run,) = workbench.session.runs.values()
    qtbot.waitUntil(lambda: not run.active and bool(run.results), timeout=120_000)
    assert "of 30 test samples wrong" in run.results["headline"]
    key = next(info.key for info in run_pages(workbench, run) if info.title == "Loadings")
    window.commands.show_run(run, key)
    group = window.workspace.current_page()
    click(qtbot, group.choice._group.button(list(group._makers).index("Images")))
    qtbot.waitUntil(lambda: not group.front.busy and group.front.state == "", timeout=60_000)
    assert group.front.loaded.panels[0].marks[0].values.shape == (6, 5)
    qtbot.waitUntil(lambda: isinstance(window.docks.side_stack.currentWidget(), BesidePanel), timeout=20_000)
    assert window.docks.side.isVisible()
    click(qtbot, group.choice._group.button(list(group._makers).index("Chart")))
    assert not window.docks.side.isVisible()


@pytest.mark.parametrize(
    ("classes", "settings", "words"),
    [
        pytest.param(
            1,
            {},
            "Labels of two classes are needed among the training samples. Found only “0” (60).",
            marks=pytest.mark.slow,
        ),
        (2, {"image_shape": (4.0, 4.0)}, "Images of 4 × 4 have 16 pixels. Found 30 features."),
        pytest.param(
            2,
            {"test_name": "later"},
            "“Split” has no sample called “later”. Found: test, train.",
            marks=pytest.mark.slow,
        ),
    ],
    ids=["one class", "shape", "split"],
)
def test_what_does_not_fit_is_said(window, qtbot, tmp_path, monkeypatch, classes, settings, words):  # noqa: F811
    write_bars(tmp_path / "bars.npz", classes=classes)
    import_file(qtbot, window, tmp_path / "bars.npz", monkeypatch)
    qtbot.waitUntil(lambda: window.setup_page is not None, timeout=20_000)
    page = window.setup_page
    page.set_model("rank_factor_vb")
    page.form.set_values({**page.form.values(), **settings})
    click(qtbot, page.foot.start)

    def told() -> bool:
        from PySide6.QtWidgets import QLabel

        return any(words in label.text() for label in page.findChildren(QLabel) if label.isVisible())

    qtbot.waitUntil(told, timeout=60_000)
    assert not window.workbench.session.runs
