"""ROC, calibration and confusion as values: what their headlines say is computed here by hand."""

from __future__ import annotations

import re

import numpy as np
import pytest

from plaidwork.core.contract.model import Result
from plaidwork.core.contract.spec import View
from plaidwork.core.pictures import Line
from plaidwork.core.views.assessed import with_interval
from tests.core.views.drawn import drawn

CODES = np.array([0, 0, 0, 0, 1, 1, 1, 0, 1, 1])
SECOND = np.array([0.1, 0.3, 0.6, 0.2, 0.8, 0.4, 0.9, 0.35, 0.7, 0.55])
RESULTS = {
    "share": Result(np.stack([1 - SECOND, SECOND], axis=1), ("patient", "class")),
    "codes": Result(CODES, ("patient",)),
    "class": Result(np.array(["well", "ill"]), ("class",)),
}


def picture(kind: str, asked=None):
    view = View(kind, kind, {"labels": "codes", "probability": "share", "names": "class"})
    return drawn(view, RESULTS, asked, (10, 5))


def test_the_area_is_the_share_of_pairs_in_order():
    found = picture("roc")
    pairs = SECOND[CODES == 1][:, None] > SECOND[CODES == 0]
    assert found.headline.startswith(f"Ill: area under the ROC curve {pairs.mean():.2f} (")
    (panel,) = found.panels
    assert (panel.x.label, panel.y.label) == ("false positive rate", "true positive rate")
    curve = next(mark for mark in panel.marks if isinstance(mark, Line) and mark.name)
    heights = np.asarray(curve.y)
    assert np.trapezoid(heights, np.asarray(curve.x)) == pytest.approx(pairs.mean())
    assert panel.aside[0].startswith(f"Area {pairs.mean():.2f}")


def test_recall_is_across_and_precision_up():
    (panel,) = picture("roc", {"show": "pr"}).panels
    assert (panel.x.label, panel.y.label) == ("recall", "precision")
    curve = next(mark for mark in panel.marks if isinstance(mark, Line) and mark.name)
    taken = SECOND >= 0.5  # of these 5 samples 4 are ill, of all ill ones 5
    assert (CODES[taken].mean(), taken[CODES == 1].mean()) == (0.8, 0.8)
    assert (0.8, 0.8) in set(zip(np.round(curve.x, 9).tolist(), np.round(curve.y, 9).tolist(), strict=True))


def test_losses_are_told_under_their_names():
    own = np.where(CODES == 1, SECOND, 1 - SECOND)
    log_loss, brier = -np.log(own).mean(), ((1 - own) ** 2).mean()
    found = re.fullmatch(r"Log loss (\S+), Brier score (\S+)", picture("calibration").headline)
    assert float(found[1]) == pytest.approx(log_loss, abs=0.005)
    assert float(found[2]) == pytest.approx(brier, abs=0.005)


def test_wrong_ones_are_counted():
    wrong = int(((SECOND > 0.5) != (CODES == 1)).sum())
    assert picture("confusion").headline.startswith(f"{wrong} of 10 patients wrong ({10 * wrong} %, ")


def test_an_area_near_one_has_more_decimals():
    assert with_interval((0.912, 0.85, 0.96)) == "0.91 (0.85 to 0.96)"
    assert with_interval((0.9971, 0.9902, 1.0)) == "0.997 (0.990 to 1)"
    assert with_interval((1.0, 0.77, 1.0)) == "1 (0.77 to 1)"
    assert with_interval((0.999999, 0.99, 1.0)) == "> 0.9999 (0.9900 to 1)"


def test_beside_the_counts_is_what_was_found_of_each_class():
    (panel,) = picture("confusion").panels
    assert panel.aside[0] == "Found of each class"
    assert panel.aside[1].startswith("well: 80 % (")
    assert panel.aside[2].startswith("ill: 80 % (")
