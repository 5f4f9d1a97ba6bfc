"""Which commands make sense now, by what is in front, and which of them the header shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from plaidwork.core.inference.run import Run
from plaidwork.core.session.session import Session
from plaidwork.core.study import StudyRecord
from plaidwork.gui.language import tr
from plaidwork.gui.session_tree import NEW

if TYPE_CHECKING:
    from plaidwork.gui.main_window import MainWindow


@dataclass(frozen=True)
class _InFront:
    """What is chosen in the list: a run, a search, a dataset by name, or the set-up of a fit."""

    run: Run | None
    study: StudyRecord | None
    dataset: str
    setup: bool
    phase: str
    """What the run or search does, in a word; empty when it does nothing."""
    lost: bool
    """Whether its model is not installed."""

    @classmethod
    def of(cls, window: MainWindow) -> _InFront:
        workbench, run, study = window.workbench, window.current_run(), window.current_study()
        phase = workbench.phase(run) if run is not None else ""
        if study is not None:
            phase = workbench.studies.phase(study.id)
        model = run.spec.id if run is not None else study.model_id if study is not None else ""
        lost = bool(model) and workbench.is_missing(model)
        return cls(run, study, window.current_dataset(), window.tree.current()[0] == NEW, phase, lost)

    @property
    def failed(self) -> bool:
        return self.run is not None and self.run.status == "failed" and not self.phase

    @property
    def unfinished(self) -> bool:
        """Whether it is a search some of whose fits were not made."""
        return self.study is not None and not self.phase and self.study.count("waiting", "stopped") > 0

    @property
    def left(self) -> bool:
        """Whether it can go on where it ended."""
        return self.unfinished or (self.run is not None and not self.phase and self.run.resumable)


def refresh_commands(window: MainWindow) -> None:
    """Enable the commands that make sense now, and put the right ones into the header."""
    front, actions, page = _InFront.of(window), window.actions_by_key, window.workspace.current_page()
    offers = page.offers if page is not None else frozenset()
    session = window.workbench.session
    for key, enabled in {
        **_of_what_is_in_front(front, bool(session.datasets)),
        **_of_run(front.run),
        "verify": front.run is not None and window.workbench.can_verify(front.run),
        "export_picture": "export_picture" in offers,
        "copy_picture": "export_picture" in offers,
        "show_data": "show_data" in offers,
        "find": "find_in_page" in offers,
        **_of_session(session),
    }.items():
        actions[key].setEnabled(enabled)
    paused, fresh = front.phase == "paused", front.setup or (front.run is None and not front.left)
    actions["pause"].setText(tr("Go on" if paused else "Pause"))
    actions["pause"].setData("play" if paused else "pause")
    actions["start"].setText(tr("Start fit" if fresh else "Resume" if front.left else "Run longer…"))
    again = "Change settings…" if front.failed else "Fit again with these settings…"
    actions["fit_again"].setText(tr(again))
    window.header.set_buttons({"pause", "stop"} if front.phase else _next_step(front))


def _next_step(front: _InFront) -> set[str]:
    """What the header offers where nothing is under way."""
    if front.setup:
        return set()
    if front.failed and not front.lost:  # going on would fail again
        return {"fit_again"}
    return {"start"} if front.left and not front.lost else {"new_fit"}


def _of_what_is_in_front(front: _InFront, has_data: bool) -> dict[str, bool]:
    run, phase, chosen = front.run, front.phase, front.run is not None or front.study is not None
    return {
        "pause": phase in ("running", "paused", "preparing"),
        "stop": bool(phase) and phase != "stopping",
        "start": front.setup or (not front.lost and ((run is not None and not phase) or front.unfinished)),
        "search": front.setup or (run is not None and not front.lost) or (run is None and has_data),
        "fit_again": run is not None and not front.lost,
        "new_fit": has_data,
        "rename": chosen or bool(front.dataset),
        "remove": (chosen and not phase) or bool(front.dataset),
    }


def _of_run(run: Run | None) -> dict[str, bool]:
    """The commands on a run, and on its results."""
    results = run is not None and bool(run.results)
    matrices = run is not None and any(item.kind == "matrix" for item in run.spec.inputs)
    there = ("export_script", "export_job", "show_beside", "write_methods")
    found = ("item_notes", "export_run", "compare_runs", "results_as_data")
    return {
        **dict.fromkeys(there, run is not None),
        **dict.fromkeys(found, results),
        "export_annotated": results and matrices,
    }


def _of_session(session: Session) -> dict[str, bool]:
    """The commands that go by what the session holds, whatever is in front."""
    has_data, has_runs = bool(session.datasets), bool(session.runs)
    return {
        **dict.fromkeys(("save", "save_as", "session_notes", "compare_sessions"), has_data or has_runs),
        **dict.fromkeys(("save_without_data", "save_compact"), has_runs),
        "write_report": any(run.results for run in session.runs.values()),
        "save_linked": has_data,
        "save_embedded": bool(session.links),
    }
