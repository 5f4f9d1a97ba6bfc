"""Networks as pictures: which links, where the nodes are, matrices, what the session keeps."""

from __future__ import annotations

import numpy as np
import pytest

from plaidwork.core.contract.model import Result
from plaidwork.core.contract.spec import View
from plaidwork.core.pictures import Cells, Links, Points, Texts
from plaidwork.core.views.network_places import compact
from tests.core.views.drawn import drawn

SOURCE = {"values": "weight", "edges": "ends", "names": "gene", "group": "of"}
VIEW = View("network", "N", SOURCE)
ENDS = np.array([[0, 1], [1, 2], [3, 4], [4, 5], [2, 3]])
WEIGHT = np.array([0.9, -0.8, 0.7, 0.6, 0.2])
RESULTS = {
    "weight": Result(WEIGHT, ("link",), label="Correlation"),
    "ends": Result(ENDS, ("link", "side")),
    "gene": Result(np.array([f"g{k}" for k in range(7)]), ("gene",), label="Gene"),
    "of": Result(np.array(["a", "a", "a", "b", "b", "b", "b"]), ("gene",)),
}


def one(picture, kind):
    (found,) = [mark for mark in picture.panels[0].marks if isinstance(mark, kind)]
    return found


def test_links_nodes_and_names(tmp_path):
    picture = drawn(VIEW, RESULTS)
    links, points = one(picture, Links), one(picture, Points)
    assert picture.headline == "6 genes, 5 links"
    assert sorted(links.dashed.tolist()) == [0, 0, 0, 0, 1]
    assert links.widths[0] < links.widths[-1]  # the strongest on top
    assert set(points.choice[1]) == {"0", "1", "2", "3", "4", "5"}
    assert set(one(picture, Texts).words) == {f"g{k}" for k in range(6)}
    assert picture.table["Correlation"].tolist() == sorted(WEIGHT, key=lambda w: -abs(w))
    assert [len(listing.columns["Links"]) for listing in picture.beside] == [6]
    assert picture.files[0].write(tmp_path / "a.graphml") == 5
    assert "<graphml" in (tmp_path / "a.graphml").read_text(encoding="utf-8")


def test_links_are_chosen_by_strength_and_group():
    assert len(one(drawn(VIEW, RESULTS, {"least": 0.5}), Links)) == 4
    assert len(one(drawn(VIEW, RESULTS, {"group": "a"}), Links)) == 2
    assert drawn(VIEW, RESULTS, {"Group": "b"}).headline == "3 genes, 2 links"


def test_choices_that_leave_no_links_can_be_taken_back():
    of = {**RESULTS, "of": Result(np.array(["a", "b", "a", "b", "a", "b", "c"]), ("gene",))}
    for layout in ("force", "circle", "matrix"):
        picture = drawn(VIEW, of, {"group": "c", "layout": layout})
        assert one(picture, Texts).words == ("No links are left by these choices",)
        assert "group" in [choice.id for choice in picture.choices]


def test_around_a_node_are_its_neighbours_the_strongest_nearest():
    picture = drawn(VIEW, RESULTS, {"around": "2"})
    points = one(picture, Points)
    place = {value: points.middle(k) for k, value in enumerate(points.choice[1])}
    assert picture.headline == "g2 is linked to 2 genes"
    assert set(place) == {"1", "2", "3"}
    assert np.hypot(*place["1"]) < np.hypot(*place["3"])
    assert picture.beside[0].columns["Linked to"].tolist() == ["g1", "g3"]
    assert points.text(points.choice[1].index("1")).startswith("g1: correlation ")


def test_the_layout_is_kept_and_another_can_be_made():
    first, second = drawn(VIEW, RESULTS), drawn(VIEW, RESULTS)
    assert first.kept["places"] == second.kept["places"]
    assert first.kept["seed"] == 1
    other = drawn(VIEW, RESULTS, {"seed": 3})
    assert other.kept["seed"] == 3
    assert other.kept["places"] != first.kept["places"]


def test_on_a_circle_group_by_group():
    tangled = {**RESULTS, "of": Result(np.array(["a", "b", "a", "b", "a", "b", "b"]), ("gene",))}
    picture = drawn(VIEW, tangled, {"layout": "circle"})
    points = one(picture, Points)
    place = np.array([points.middle(k) for k in range(len(points))])
    assert np.allclose(np.hypot(*place.T), 1)
    angle = np.sort(np.arctan2(place[:, 0], place[:, 1]) % (2 * np.pi))
    assert np.allclose(np.diff(angle), np.pi / 3)  # equally far apart
    order = np.argsort(np.arctan2(place[:, 0], place[:, 1]) % (2 * np.pi) + 1e-9)
    groups = [tangled["of"].values[int(points.choice[1][k])] for k in order]
    assert sum(a != b for a, b in zip(groups, groups[1:] + groups[:1])) == 2  # each in one piece


def test_as_a_matrix_group_by_group():
    picture = drawn(VIEW, RESULTS, {"layout": "matrix"})
    cells = one(picture, Cells)
    names = picture.panels[0].x.names
    assert [name in ("g0", "g1", "g2") for name in names] == [True] * 3 + [False] * 3
    assert picture.panels[0].y.names == names[::-1]
    whole = cells.values[::-1]
    assert np.array_equal(whole, whole.T)
    i, j = names.index("g1"), names.index("g2")
    assert whole[i, j] == -0.8
    n = len(names)
    assert cells.text((n - 1 - i) * n + j) == "g1 and g2: correlation \N{MINUS SIGN}0.8"


def test_outliers_do_not_shrink_the_others():
    rng = np.random.default_rng(1)
    places = rng.normal(0, 0.05, (100, 2))
    places[:2] = [[1, 1], [-1, 0.9]]
    found = compact(places, np.arange(100))
    inner = found[2:]
    assert np.ptp(inner, axis=0).min() > 1.4
    assert np.abs(found).max() == pytest.approx(1)
    assert found[0, 0] == 1  # the order stays
    order = np.argsort(places[:, 0])
    assert (np.diff(found[order, 0]) >= 0).all()
