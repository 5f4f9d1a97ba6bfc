"""Stored draws that do not fit the data are refused before summaries, densities and predictions index with them."""

import lzma
from pathlib import Path

import numpy as np
import pytest

from plaidwork.core.analysing import run_analysis
from plaidwork.core.draws.draws import DrawBuffer
from plaidwork.core.errors import ModelError, SessionError
from plaidwork.core.findings.new_samples import SUFFIX
from plaidwork.core.findings.predictive import run_densities
from plaidwork.core.plugins.registry import registry
from plaidwork.core.session.fitting import resume
from plaidwork.core.session.session import Session
from plaidwork.core.session.solutions import summarise_run
from plaidwork.core.session.store.session_file import load

FIXTURES = Path(__file__).parents[1] / "fixtures"


def _first(value):
    """The first entry of the last draw set to a value."""

    def change(draws):
        draws[-1] = draws[-1].copy()
        draws[-1].flat[0] = value
        return draws

    return change


def _cut(draws):
    return [draw[..., :-1].copy() for draw in draws]


def _as_numbers(draws):
    return [np.full(draw.shape, np.nan) for draw in draws]


def _change(run, variable, change):
    for record in run.chains:  # a file has draws of one shape
        old = record.draws
        names = [one.name for one in old.variables]
        entries, shapes = (
            {name: list(old.packed(name)) for name in names},
            {name: old.fixed_shape(name) for name in names},
        )
        entries[variable] = change(entries[variable])
        shapes[variable] = entries[variable][0].shape
        record.draws = DrawBuffer(old.variables, old.first, old.every)
        record.draws.extend_packed(entries, shapes)


def _altered(model, variable, change, tmp_path):
    """A run with draws of its first chain changed, written as a sound file and opened again."""
    (packed,) = FIXTURES.glob(f"version_*/{model}.plaidwork.xz")
    path = tmp_path / "sound.plaidwork"
    path.write_bytes(lzma.decompress(packed.read_bytes()))
    session = load(path, Session, probed=True)
    (run,) = session.runs.values()
    _change(run, variable, change)
    out = session.save(tmp_path / "altered.plaidwork")
    session = load(out, Session, probed=True)
    return session, next(iter(session.runs.values()))


CASES = [
    ("dp_mixture", "cluster_of", _first(24), "with 24, expected less than 24"),
    ("dp_mixture", "cluster_of", _first(2**40), "expected less than 24"),
    ("dp_mixture", "cluster_of", _first(-1), "with -1, expected 0 at least"),
    ("dp_mixture", "cluster_of", _cut, "with 23 along “sample”, expected 24"),
    ("multi_view_clusters", "cluster_of", _first(24), "with 24, expected less than 24"),
    ("multi_view_clusters", "block_of", _first(-2), "with -2, expected 0 at least"),
    ("rank_factor", "group", _first(99), "expected less than"),
    ("rank_factor", "loadings", _cut, "along “factor”, expected"),
]


@pytest.mark.parametrize(("model", "variable", "change", "words"), CASES)
def test_draws_that_do_not_fit_are_refused_everywhere(model, variable, change, words, tmp_path):
    session, run = _altered(model, variable, change, tmp_path)
    found = registry().model(run.spec.id)
    run.results_draws = 0
    for ask in (
        lambda: summarise_run(run),
        lambda: run_densities(run, session.datasets, found),
        lambda: resume(session, run, draws=1, executor="inline"),
    ):
        with pytest.raises(SessionError) as caught:
            ask()
        assert caught.value.message.startswith(
            f"The draws of {run.title} do not fit its data and settings: chain 1 has “"
        )
        assert words in caught.value.message


def test_draws_of_another_type_are_refused(tmp_path):
    session, run = _altered("dp_mixture", "cluster_of", lambda draws: draws, tmp_path)
    _change(run, "cluster_of", _as_numbers)  # a file of floats declared as whole numbers is read as it is
    with pytest.raises(SessionError, match="of kind f, expected int"):
        run_densities(run, session.datasets, registry().model(run.spec.id))


def test_new_samples_are_not_predicted_from_them(tmp_path):
    session, run = _altered("dp_mixture", "cluster_of", _first(2**40), tmp_path)
    inputs = {"new_views": [session.datasets[name] for name in run.inputs["views"]]}
    with pytest.raises(SessionError, match="do not fit its data"):
        run_analysis(run, f"dp_mixture{SUFFIX}", inputs)


def test_a_cluster_without_a_weight_is_refused(tmp_path):
    """Within its range, but of a cluster that the draw does not have; and none in a view that the sample has."""
    for value in (23, -1):
        session, run = _altered("multi_view_clusters", "cluster_of", _first(value), tmp_path)
        with pytest.raises((ModelError, SessionError)):
            run_densities(run, session.datasets, registry().model(run.spec.id))


def test_sound_draws_are_looked_at_once(tmp_path):
    session, run = _altered("dp_mixture", "cluster_of", lambda draws: draws, tmp_path)
    assert run.foreign
    run_densities(run, session.datasets, registry().model(run.spec.id))
    assert not run.foreign
