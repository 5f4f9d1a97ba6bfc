"""Restarts as a picture: partners on the diagonal, what is found again, which rows choose a factor."""

from __future__ import annotations

import numpy as np

from plaidwork.core.contract.model import Result
from plaidwork.core.contract.spec import View
from tests.core.views.drawn import drawn

VIEW = View("restarts", "Restarts", {"values": "both", "restart": "of", "shown": "best"})
BOTH = np.eye(5)
BOTH[0, 4] = BOTH[4, 0] = -0.95  # factor 1 is the last of the other restart, with the other sign
BOTH[1, 2] = BOTH[2, 1] = 0.7
RESULTS = {
    "both": Result(BOTH, ("found", "found_2")),
    "of": Result(np.array([1, 1, 2, 2, 2]), ("found",)),
    "best": Result(np.array([1]), ("best",)),
}


def test_partners_are_on_the_diagonal():
    picture = drawn(VIEW, RESULTS)
    assert picture.headline == "1 of 2 factors of restart 1 come back in restart 2"
    (panel,) = picture.panels
    cells = panel.marks[0]
    assert np.allclose(np.diag(cells.values), [0.95, 0.7])
    assert cells.labels[:2] == ("0.95", "0")
    assert cells.text(0).endswith("correlation −0.95, partners")
    assert cells.items(0) == ("layer", (0,))
    assert panel.x.names[2] == "found 4"
    assert picture.table["Correlation"].tolist() == [-0.95, 0.7]
    assert "mean 0.82, least 0.70" in picture.caption


def test_another_restart_down_chooses_nothing():
    picture = drawn(VIEW, RESULTS, {"Down": "Restart 2", "Across": "Restart 1, shown in all views"})
    cells = picture.panels[0].marks[0]
    assert cells.values.shape == (3, 2)
    assert cells.rows is None
    assert picture.table["Partner"].tolist()[1] == ""
    alone = drawn(VIEW, RESULTS, {"one": "0", "other": "0"})
    assert alone.headline == "Restart 1 beside itself"
    single = RESULTS | {"of": Result(np.ones(5, int), ("found",))}
    assert drawn(VIEW, single).empty[0] == "One restart alone cannot be compared"
