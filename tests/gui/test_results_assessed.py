"""Confusion, ROC and calibration: numbers shown, classes and parts by keys, read-outs, states, files."""

from __future__ import annotations

import csv
from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QPointF, Qt

from plaidwork.core.contract.model import Result
from plaidwork.core.contract.spec import View
from plaidwork.core.draws import assessment
from tests.gui.factor_runs import choose, click, factor_run

SOURCE = {"labels": "codes", "probability": "share", "names": "class", "part": "half"}
CONFUSION, ROC, CALIBRATION = (View(kind, kind, SOURCE) for kind in ("confusion", "roc", "calibration"))


def judged_run(size: int = 3, n: int = 150, unknown: int = 10, seed: int = 2):
    """Probabilities that hold by construction: classes are drawn from them. Two parts, some items without a class."""
    rng = np.random.default_rng(seed)
    workbench, run = factor_run()
    share = rng.dirichlet(np.full(size, 0.5), n)
    codes = np.array([rng.choice(size, p=p) for p in share])
    codes[:unknown] = -1
    run.results |= {
        "share": Result(share, ("sample", "class"), label="probability"),
        "codes": Result(codes, ("sample",)),
        "class": Result(np.array(["ALL", "AML", "CLL", "CML"][:size]), ("class",)),
        "half": Result(np.where(np.arange(n) % 3 == 0, "test", "fitted"), ("sample",)),
    }
    return workbench, run


def known(run, part: str = "test"):
    """Codes and probabilities of a part."""
    codes, share, half = (run.results[name].values for name in ("codes", "share", "half"))
    inside = (codes >= 0) & (half == part)
    return codes[inside], share[inside]


def exported(page, path) -> None:
    for kind in ("png", "svg", "pdf"):
        assert page.export_picture(path / f"x.{kind}").stat().st_size > 1000


def test_confusion(opened, qtbot, tmp_path):
    _, run = bench = judged_run()
    page = opened(bench, CONFUSION)
    codes, share = known(run)
    counts = assessment.confusion(codes, share)
    assert page.control("part").currentText() == "test"
    assert told(page).tolist() == counts.tolist()
    wrong = len(codes) - int(np.trace(counts))
    assert page._headline.text().startswith(f"{wrong} of {len(codes)} ")
    assert " wrong (" in page._headline.text()
    assert "95 % interval" in page._headline.text()
    assert page._notes.text() == f"{len(codes)} test samples; 10 without a known class left out"
    (frame,) = page.chart.frames.frames
    qtbot.mouseMove(page.chart, QPointF(frame.x.at(0), frame.y.at(1)).toPoint())
    assert page.told[-1].startswith(f"AML taken for ALL: {counts[1, 0]} of {counts[1].sum()}, ")
    qtbot.keyClick(page.chart, Qt.Key.Key_Up)
    assert page.told[-1].startswith(f"ALL found: {counts[0, 0]} of {counts[0].sum()}")
    page.grab()
    choose(qtbot, page.control("part"), "fitted")
    assert page.wait(20_000)
    assert told(page).sum() == 100 - (10 - 4)
    dialog = page.show_data()
    dialog.to_csv(tmp_path / "c.csv")
    dialog.close()
    lines = list(csv.reader((tmp_path / "c.csv").open()))
    assert lines[0] == ["True class", "Predicted ALL", "Predicted AML", "Predicted CLL"]
    assert [float(v) for v in lines[1][1:]] == told(page)[0].tolist()
    exported(page, tmp_path)


def told(page) -> np.ndarray:
    """Counts of the confusion."""
    return np.stack(list(page.loaded.table.values())[1:], axis=1).astype(int)


def test_a_click_on_a_cell_selects_its_samples(opened, qtbot):
    workbench, run = bench = judged_run(n=180)
    share, codes = run.results["share"].values, run.results["codes"].values
    run.results |= {"share": Result(share, ("patient", "class")), "codes": Result(codes, ("patient",))}
    page = opened(bench, replace(CONFUSION, source={**SOURCE, "part": ""}))
    (frame,), selection = page.chart.frames.frames, workbench.selection(run)
    wanted = np.flatnonzero((codes == 1) & (share.argmax(axis=1) == 0))
    assert len(wanted) > 1
    click(qtbot, page.chart, frame.x.at(0), frame.y.at(1))
    assert selection.get("row") == tuple(wanted)
    page.grab()
    click(qtbot, page.chart, frame.x.at(0), frame.y.at(1))
    assert selection.get("row") == ()
    for key in (Qt.Key.Key_Right, Qt.Key.Key_Down, Qt.Key.Key_Return):
        qtbot.keyClick(page.chart, key)
    assert selection.get("row") == tuple(wanted)


def chosen(qtbot, page, name: str, text: str) -> None:
    """Choose in a list as with the keyboard, and wait for the picture."""
    choose(qtbot, page.control(name), text)
    assert page.wait(20_000)


def test_roc(opened, qtbot, tmp_path):
    _, run = bench = judged_run()
    page = opened(bench, replace(ROC, options={"positive": 1}))
    codes, share = known(run)
    area = assessment.auc(codes == 0, share[:, 0])
    assert (
        page._headline.text()
        == f"ALL: area under the ROC curve {area.value:.2f} ({area.low:.2f} to {area.high:.2f})"
    )
    hits = int((codes == 0).sum())
    assert f"{hits} of the class ALL, {len(codes) - hits} of all other classes" in page._notes.text()
    (frame,) = page.chart.frames.frames
    x, y = frame.x, frame.y
    assert x.end - x.start == pytest.approx(y.start - y.end)
    qtbot.keyClick(page.chart, Qt.Key.Key_Right)
    assert page.told[-1].startswith("threshold above all: false positive rate 0, true positive rate 0; 0 of ")
    last = len(page.loaded.table["Threshold"]) - 1
    qtbot.mouseMove(page.chart, QPointF(x.at(1), y.at(1)).toPoint())
    assert page.chart.current.piece == last
    chosen(qtbot, page, "class", "CLL")
    assert page._caption.text().startswith("CLL against all other classes")
    click(qtbot, page.control("show")._group.button(1), 5, 5)
    assert page.wait(20_000)
    precision = assessment.average_precision(codes == 2, share[:, 2])
    assert page.loaded.panels[0].aside[0] == f"Average precision {precision:.2f}"
    page.grab()
    dialog = page.show_data()
    dialog.to_csv(tmp_path / "r.csv")
    dialog.close()
    assert (tmp_path / "r.csv").read_text().splitlines()[0] == "Threshold,Recall,Precision"
    exported(page, tmp_path)


def test_calibration(opened, qtbot, tmp_path):
    _, run = bench = judged_run(n=600)
    page = opened(bench, replace(CALIBRATION, options={"positive": "ALL"}))
    codes, share = known(run)
    bins = assessment.calibration(codes == 0, share[:, 0], 10)
    table = page.loaded.table
    assert table["Number"].tolist() == [part.count for part in bins]
    assert table["Low"] == pytest.approx([part.share.low for part in bins])
    loss = assessment.log_loss(codes, share)
    assert page._headline.text().startswith(f"Log loss {loss.value:.3f}, Brier score 0.")
    assert page._caption.text().startswith(f"95 % intervals {loss.low:.3f} to {loss.high:.3f} and 0.")
    assert "Guessing all classes alike has 1.099 and 0.333" in page._caption.text()
    qtbot.keyClick(page.chart, Qt.Key.Key_Right)
    assert page.told[-1].startswith(
        f"mean probability {bins[0].mean:.2f}: ALL in {bins[0].share.value:.2f} ("
    )
    page.control("bins").set_value(4)
    assert page.wait(20_000)
    mean = page.loaded.table["Mean probability"]
    assert len(mean) == 4
    frame, counts = page.chart.frames.frames
    qtbot.mouseMove(page.chart, QPointF(frame.x.at(mean[2]), frame.y.at(0.4)).toPoint())
    assert page.chart.current.piece == 2
    told = page.told[-1]
    qtbot.mouseMove(page.chart, QPointF(0, 0).toPoint())
    qtbot.mouseMove(page.chart, QPointF(frame.x.at(mean[2]), counts.area.center().y()).toPoint())
    assert page.told[-1] == told
    chosen(qtbot, page, "class", "AML")
    assert page.loaded.panels[0].y.label == "share of AML"
    dialog = page.show_data()
    dialog.to_csv(tmp_path / "k.csv")
    dialog.close()
    assert len((tmp_path / "k.csv").read_text().splitlines()) == 5
    exported(page, tmp_path)


def test_what_was_chosen_is_chosen_again(opened, qtbot):
    _, run = bench = judged_run()
    page = opened(bench, CALIBRATION)
    chosen(qtbot, page, "class", "CLL")
    page.control("bins").set_value(5)
    assert page.wait(20_000)
    assert run.view_settings["choices"]["calibration"] == {"Class": "CLL", "Bins": 5}
    again = opened(bench, CALIBRATION)
    assert again.control("class").currentText() == "CLL"
    assert len(again.loaded.table["Number"]) == 5


def test_a_sample_is_selected_where_it_is_judged(opened, qtbot):
    workbench, run = bench = judged_run(n=180)
    run.results["share"] = Result(run.results["share"].values, ("patient", "class"))
    page = opened(bench, View("shares", "shares", SOURCE))
    frame, strip = page.chart.frames.frames
    at = QPointF(frame.x.at(3), frame.y.at(0.5))
    click(qtbot, page.chart, at.x(), at.y())
    (row,) = workbench.selection(run).get("row")
    assert row % 3 == 0  # of the test half
    qtbot.mouseMove(page.chart, QPointF(strip.x.at(3), strip.area.center().y()).toPoint())
    names = ["ALL", "AML", "CLL"]
    assert page.told[-1].startswith(f"Patient of class {names[run.results['codes'].values[row]]}: ALL ")
    lit = page.grab().toImage()
    qtbot.keyClick(page, Qt.Key.Key_Escape)
    assert workbench.selection(run).get("row") == ()
    assert page.grab().toImage() != lit
    click(qtbot, page.control("order")._group.button(1), 5, 5)
    assert page.wait(20_000)
    expected = [names[code] for code in np.sort(known(run)[0])]
    assert page.loaded.table["Known class"].tolist() == expected


def test_two_classes_from_one_column(opened):
    workbench, run = judged_run(size=2)
    run.results["share"] = Result(run.results["share"].values[:, 1], ("sample",))
    page = opened((workbench, run), ROC)
    assert page._headline.text().startswith("AML: area under the ROC curve 0.")
    assert page._caption.text().startswith("AML against ALL.")


@pytest.mark.parametrize("view", [CONFUSION, ROC, CALIBRATION])
def test_without_classes_and_with_one(opened, view):
    workbench, run = judged_run(unknown=150)
    assert opened((workbench, run), view).state == "No item has a known class"
    workbench, run = judged_run()
    run.results["codes"] = Result(np.zeros(150, int), ("sample",))
    page = opened((workbench, run), view, size=(480, 380))
    assert not page.state
    page.grab()
    page.show_data().close()
    run.results["codes"] = Result(np.full(150, 7), ("sample",))
    assert opened((workbench, run), view).state == "This picture could not be drawn"


def test_the_most_frequent_of_many_classes_is_shown_first(opened):
    _, run = bench = judged_run()
    codes = run.results["codes"].values
    page = opened(bench, ROC)
    assert page.control("class").currentIndex() == np.bincount(codes[codes >= 0]).argmax()
    assert opened(judged_run(size=2), ROC).control("class").currentText() == "AML"


def test_pictures_side_by_side(opened, qtbot):
    """One for each class on the same scales; back again; chosen again after reopening."""
    bench = judged_run()
    page = opened(bench, ROC)
    alone = page.loaded
    assert len(alone.panels) == 1
    chosen(qtbot, page, "beside", "By class")
    classes = next(choice for choice in page.loaded.choices if choice.id == "class").options
    assert [panel.title for panel in page.loaded.panels] == [name for _, name in classes]
    again = opened(bench, ROC)
    assert len(again.loaded.panels) == len(classes)
    chosen(qtbot, page, "beside", "No")
    assert len(page.loaded.panels) == 1
