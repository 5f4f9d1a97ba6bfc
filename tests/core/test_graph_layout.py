"""Places of a network's nodes, and very many lines: against the plain sums they stand for."""

import numpy as np
import pytest

from plaidwork.core.numerics.graph_layout import _repel, spring_layout
from plaidwork.core.numerics.lines import draw_lines


def planted(groups: int = 4, each: int = 20, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Links within groups and a few between: ends, and the group of each node."""
    rng = np.random.default_rng(seed)
    group = np.repeat(np.arange(groups), each)
    a, b = np.triu_indices(groups * each, 1)
    chance = np.where(group[a] == group[b], 0.3, 0.01)
    kept = rng.random(len(a)) < chance
    return np.column_stack([a, b])[kept], group


@pytest.mark.parametrize("cells", [1, 3, 8, 16])
def test_repulsion_is_near_the_exact_sum(cells):
    place = np.random.default_rng(1).normal(size=(300, 2)) * 10
    force = np.zeros((300, 2))
    _repel(place, cells, force)
    way = place[:, None] - place[None]
    square = (way**2).sum(axis=-1) + np.eye(300)
    exact = (way / square[..., None]).sum(axis=1)
    error = np.linalg.norm(force - exact, axis=1) / np.linalg.norm(exact, axis=1).mean()
    assert error.max() < (1e-12 if cells <= 2 else 0.05)


def test_groups_stand_apart():
    ends, group = planted()
    place = spring_layout(80, ends, np.ones(len(ends)), 3)
    assert np.abs(place).max() == pytest.approx(1)
    assert place[:, 0].std() >= place[:, 1].std()
    centres = np.array([place[group == g].mean(axis=0) for g in range(4)])
    nearest = np.linalg.norm(place[:, None] - centres, axis=-1).argmin(axis=1)
    assert (nearest == group).mean() > 0.85  # 0.25 by chance


def test_a_seed_gives_one_layout():
    ends, _ = planted()
    one, same, other = (spring_layout(80, ends, np.ones(len(ends)), seed) for seed in (1, 1, 2))
    assert np.array_equal(one, same)
    assert not np.allclose(one, other)
    again = spring_layout(80, ends, np.ones(len(ends)), 1, start=one)
    assert np.linalg.norm(again - one, axis=1).mean() < 0.25 * np.linalg.norm(other - one, axis=1).mean()


def test_edges_of_a_layout():
    assert spring_layout(0, np.zeros((0, 2), int), np.zeros(0), 1).shape == (0, 2)
    assert np.array_equal(spring_layout(3, np.zeros((0, 2), int), np.zeros(0), 1), np.zeros((3, 2)))
    pair = spring_layout(5, np.array([[1, 4]]), np.array([0.3]), 1)
    assert np.array_equal(pair[[0, 2, 3]], np.zeros((3, 2)))
    assert np.linalg.norm(pair[1] - pair[4]) > 0.5
    with pytest.raises(ValueError, match="from 0 to 2"):
        spring_layout(3, np.array([[0, 3]]), np.ones(1), 1)

    def stop():
        raise KeyError

    with pytest.raises(KeyError):
        spring_layout(3, np.array([[0, 1]]), np.ones(1), 1, check=stop)


def drawn(line, width=2.0, opacity=1.0, dashed=False) -> np.ndarray:
    """Share of ink of each pixel of a picture, black on white."""
    pixels = np.full((60, 80, 4), 255, np.uint8)
    colors = np.zeros((1, 3), np.uint8)
    draw_lines(
        pixels,
        np.array([line], float),
        np.array([width]),
        colors,
        np.array([opacity]),
        np.array([dashed]),
        1.0,
    )
    assert (pixels[..., 3] == 255).all()
    return 1 - pixels[..., 0] / 255


@pytest.mark.parametrize(
    "line", [(10, 10, 60, 10.5), (10, 10, 60, 50), (30, 5, 33, 55), (60, 50, 10, 10), (33, 55, 30, 5)]
)
@pytest.mark.parametrize("width", [0.6, 1.0, 3.0])
def test_ink_of_a_line(line, width):
    length = np.hypot(line[2] - line[0], line[3] - line[1])
    ink = drawn(line, width)
    assert ink.sum() == pytest.approx(length * width, rel=0.12)
    assert drawn(line, width, 0.5).sum() == pytest.approx(ink.sum() / 2, rel=0.05)
    y, x = np.average(np.indices(ink.shape).reshape(2, -1), axis=1, weights=ink.ravel()) + 0.5
    assert (x, y) == pytest.approx(((line[0] + line[2]) / 2, (line[1] + line[3]) / 2), abs=0.6)
    assert drawn(line, width, dashed=True).sum() == pytest.approx(0.6 * ink.sum(), rel=0.15)


def test_lines_beyond_the_picture():
    assert drawn((-500, 30, 500, 31)).sum() == pytest.approx(160, rel=0.1)
    assert drawn((100, 10, 300, 20)).sum() == 0
    assert drawn((5, -900, 5, -800)).sum() == 0
    assert drawn((20, 20, 20, 20)).sum() <= 4
