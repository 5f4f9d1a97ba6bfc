"""The example plugin of docs/examples, installed beside Plaidwork as a guest: found, fitted, looked at, resumed."""

from __future__ import annotations

import json
import sys

import pytest
from guests import command, install

from plaidwork.core import open_session
from plaidwork.core.plugins.registry import Registry

PACKAGE = "plaidwork_dirichlet_mixture"
GUEST = "dirichlet_mixture"


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """A folder with the guest as a distribution."""
    return install(GUEST, tmp_path_factory.mktemp("guest"))


@pytest.fixture
def beside(installed, monkeypatch):
    """The guest importable in this process, and forgotten afterwards."""
    monkeypatch.syspath_prepend(str(installed))
    yield installed
    for name in [name for name in sys.modules if name.split(".")[0] == PACKAGE]:
        del sys.modules[name]


@pytest.mark.long
def test_installed_by_its_own_metadata(installed):
    text = (next(installed.glob("*.dist-info")) / "entry_points.txt").read_text(encoding="utf-8")
    assert f"{GUEST} = {PACKAGE}" in text
    assert (installed / PACKAGE / "samples" / "four-groups" / "pebbles.csv").is_file()


def test_found_by_entry_point_and_listed(installed):
    records = json.loads(command(installed, "plugin", "list", "--json"))
    found = next(record for record in records if record["name"] == GUEST)
    assert found["state"] == "ok"
    assert found["models"] == [GUEST]


@pytest.mark.slow
def test_its_example_is_listed(installed):
    assert "four-groups" in command(installed, "example")


@pytest.mark.slow
def test_fitted_saved_and_resumed_from_the_command_line(installed, tmp_path):
    data, path = installed / PACKAGE / "samples" / "four-groups" / "pebbles.csv", tmp_path / "a.plaidwork"
    quick = ["--chains", "2", "--warmup", "30", "--draws", "30", "--thin", "1", "--seed", "3"]
    words = ["fit", GUEST, "--input", f"X={data}", "--set", "covariance=diagonal", *quick]
    command(installed, *words, "--out", str(path))
    (run,) = open_session(path).runs.values()
    assert run.status == "done"
    assert run.n_draws == 60
    assert "of 170 items" in run.results["headline"]
    assert len(run.results["assignments"]) == 170
    command(installed, "resume", str(path), "--draws", "10")
    (again,) = open_session(path).runs.values()
    assert again.n_draws == 80
    longer = tmp_path / "b.plaidwork"
    quick[5] = "40"
    command(installed, *words[: -len(quick)], *quick, "--out", str(longer))
    (whole,) = open_session(longer).runs.values()
    for old, new in zip(again.chains, whole.chains, strict=True):
        assert old.trace.rows().tobytes() == new.trace.rows().tobytes()


@pytest.mark.slow
def test_a_session_opens_where_the_guest_is_not(installed, tmp_path):
    """Results are looked at without the plugin; going on says what is missing."""
    path = tmp_path / "pebbles.plaidwork"
    command(installed, "example", "four-groups", "--out", str(path))
    (run,) = open_session(path).runs.values()
    assert run.results["headline"].startswith("4 clusters of 170 items")
    assert not Registry().has(run.spec.id)


@pytest.mark.long
def test_fitted_and_drawn_in_the_window(beside, qapp, qtbot, tmp_path):
    from plaidwork.core.contract.schedule import Schedule
    from plaidwork.core.inference.plan import make_plan
    from plaidwork.core.session.session import Session
    from plaidwork.gui.main_window import MainWindow
    from plaidwork.gui.results.broken_page import BrokenPage
    from plaidwork.gui.results.registry import make_view
    from plaidwork.gui.settings import Settings
    from plaidwork.gui.tasks import wait_for_tasks
    from plaidwork.gui.workbench import Workbench

    plugins = Registry().load()
    sample = next(sample for sample in plugins.samples if sample.id == "four-groups")
    window = MainWindow(Workbench(plugins), Settings(tmp_path / "config"))
    window.resize(1200, 800)
    window.show()
    workbench = window.workbench
    try:
        window.commands.open_example(sample)
        qtbot.waitUntil(lambda: window.setup_page is not None, timeout=30_000)
        page = window.setup_page
        assert page.inputs()["X"] == ["pebbles"]
        dataset = workbench.session.datasets["pebbles"]
        schedule = Schedule(chains=2, warmup=60, draws=60)
        run = workbench.start(make_plan(plugins.model(GUEST), {"X": dataset}, schedule=schedule, seed=1))
        qtbot.waitUntil(lambda: bool(run.results) and not run.active, timeout=120_000)
        assert run.status == "done"
        assert run.results["headline"].startswith("4 clusters of")
        for view in run.spec.views:
            shown = make_view(workbench, run, view, window)
            assert not isinstance(shown, BrokenPage), view.title
            qtbot.waitUntil(lambda shown=shown: shown.loaded is not None, timeout=20_000)
            if view.title == "Cluster means":
                assert shown.loaded.matrix.rows[0] == "cluster 1"
                assert shown.loaded.matrix.columns[0] == "length"
            if view.title == "Similarity":
                assert shown.loaded.matrix.rows[0].startswith("pebble ")
            shown.deleteLater()
    finally:
        for active in workbench.active_runs():
            workbench.stop(active)
        workbench.wait(10_000)
        wait_for_tasks()
        workbench.set_session(Session())
        window.close()
        window.deleteLater()
        wait_for_tasks()
