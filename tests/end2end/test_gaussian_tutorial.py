"""The commands of docs/gaussian-processes.md, as they are typed: a lecture's figures made again."""

import re
import shlex
from pathlib import Path

import numpy as np
import pytest

from plaidwork.core.cli import main
from plaidwork.core.data.samples import bundled_samples
from plaidwork.core.session.session import open_session
from plaidwork.core.study import study_records

pytestmark = pytest.mark.xdist_group("gaussian tutorial")  # all look at the same fits
TEXT = (Path(__file__).parents[2] / "docs" / "gaussian-processes.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder in which all commands were run, one after the other."""
    where = tmp_path_factory.mktemp("processes")
    lines = "".join(re.findall(r"```sh\n(.*?)```", TEXT, re.DOTALL)).splitlines()
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(where)
        for line in lines:
            program, *words = shlex.split(line)
            assert program == "plaidwork"
            assert main(words) == 0, line
    assert len(lines) == 7
    return where


def run_of(path: Path):
    return next(iter(open_session(path).runs.values()))


@pytest.mark.slow
def test_every_figure_has_what_it_shows(folder):
    for name in ("boundary", "classes", "moons", "arcs", "without"):
        found = run_of(folder / f"{name}.plaidwork").results
        assert found["map"].values.shape[0] == len(found["class"].values), name
        assert np.isfinite(found["auxiliary"].values).all(), name


@pytest.mark.slow
def test_the_regression_has_its_two_bands(folder):
    """A new observation has the noise of the function beside the function's own band; the noise grows along the course."""
    found = run_of(folder / "course.plaidwork").results
    function, observation = found["along_function"].values, found["along_observation"].values
    assert (np.diff(observation)[..., 0] > np.diff(function)[..., 0]).all()
    noise = found["noise_along"].values[0]
    assert noise[130] > 2 * noise[40]


@pytest.mark.slow
def test_nothing_lies_in_the_null_category(folder):
    """Figure 19 and the right of 22: the density of z is 0 there; figures 18 and 22 left: they do not."""
    for name, inside in (("moons", 2.0), ("arcs", 1.0), ("boundary", 0.0), ("classes", 0.0)):
        found = run_of(folder / f"{name}.plaidwork").results
        place = found["auxiliary_x"].values
        near = np.linspace(max(-1.0, place[0]), 1.0, 41) * 0.99 * (inside or 2.0)
        density = np.array([np.interp(near, place, row) for row in found["auxiliary"].values])
        assert (density.sum() == 0) == (inside > 0), name


@pytest.mark.slow
def test_maps_over_gamma(folder):
    """Four fits, ranked by the log loss of the test points."""
    (record,) = study_records(open_session(folder / "gammas.plaidwork").studies)
    assert [job.status for job in record.jobs] == ["done"] * 4


def test_examples_are_called_as_in_the_table():
    titles = {sample.title for sample in bundled_samples()}
    named = {
        "A curved boundary",
        "Three classes side by side",
        "Two moons, six labels",
        "Three arcs, six labels",
    }
    assert named <= titles
    assert all(f"*{title}*" in TEXT for title in named)
