"""Data that may be looked at once: who opened them, when, and which analyses came after.

An analysis with ``AnalysisSpec.unlocks`` (say, ``"test half"``) reads what no choice of a model may depend on. It
runs only when the user says so. That is noted, with the time, in the log of the run and in the history of the
session, before anything is computed. From then on a run that sees the same data is made by someone who may know
the answer, so what the analysis finds there is marked as exploratory.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from plaidwork.core.data.dataset import Dataset
from plaidwork.core.errors import SettingError
from plaidwork.core.inference.run import Run, now

if TYPE_CHECKING:
    from plaidwork.core.findings.analysis import AnalysisSpec

ACTION = "unlocked"


class LockedError(SettingError):
    """The analysis reads what is locked, and nobody has said that it may be opened."""


@dataclass(frozen=True, slots=True)
class Standing:
    """How an analysis stands to what it unlocks.

    ``free``: it unlocks nothing. ``locked``: nobody has opened it. ``open``: this run was the first to. In the state
    ``exploratory`` another run was, ``by`` (its title), at ``since``. ``caution`` says what speaks against opening it now.
    """

    state: Literal["free", "locked", "open", "exploratory"]
    what: str = ""
    by: str = ""
    since: str = ""
    caution: str = ""

    @property
    def text(self) -> str:
        """One sentence for the form and the record; empty for what is free."""
        if self.state == "free":
            return ""
        if self.state == "locked":
            once = (
                f"This opens the {self.what}, which can be done once: whatever is fitted afterwards counts as "
                "exploratory."
            )
            return f"{once} {self.caution}".strip()
        if self.state == "open":
            return f"The {self.what} was opened for this run at {_when(self.since)}."
        return f"Exploratory: the {self.what} was opened for {self.by} at {_when(self.since)}."


def _when(time: str) -> str:
    return f"{time[:16].replace('T', ' ')} UTC"


def data_keys(datasets: Iterable[Dataset]) -> list[str]:
    """What tells data of one origin from others: the checksum of the file, else the name."""
    return sorted({dataset.source.sha256 or dataset.name for dataset in datasets})


def standing(spec: AnalysisSpec, run: Run, datasets: Iterable[Dataset]) -> Standing:
    """How the analysis stands, given all data that the run and the analysis see."""
    if not spec.unlocks:
        return Standing("free")
    keys = set(data_keys(datasets))
    for entry in _entries(run):
        if entry.get("what") == spec.unlocks and keys.intersection(entry.get("data", ())):
            state: Literal["open", "exploratory"] = "open" if entry.get("run") == run.id else "exploratory"
            return Standing(state, spec.unlocks, str(entry.get("title", "")), str(entry.get("time", "")))
    caution = run.results.get(spec.caution, "")
    return Standing("locked", spec.unlocks, caution=caution if isinstance(caution, str) else "")


def open_lock(spec: AnalysisSpec, run: Run, datasets: Iterable[Dataset], allowed: bool) -> Standing:
    """The standing, once what was locked is opened and that is noted. Raises ``LockedError`` unless allowed."""
    datasets = list(datasets)
    found = standing(spec, run, datasets)
    if found.state != "locked":
        return found
    if not allowed:
        raise LockedError(
            f"{spec.title} opens the {spec.unlocks}, which can be done once. {found.caution}".strip(),
            "Say so explicitly (--unlock on the command line, unlock=True in Python) when the model is chosen.",
        )
    session = run.session
    about: dict[str, Any] = {
        "what": spec.unlocks, "analysis": spec.id, "run": run.id, "title": run.title, "data": data_keys(datasets),
    }  # fmt: skip
    if session is None:
        run.view_settings.setdefault(ACTION, []).append({"time": now(), "action": ACTION, **about})
    else:
        session.note(ACTION, **about)
    run.say(f"The {spec.unlocks} was opened for {spec.title}", "warning")
    return standing(spec, run, datasets)


def _entries(run: Run) -> list[Mapping[str, Any]]:
    """Openings noted in the session of the run (in the run itself when it has none), oldest first."""
    session = run.session
    listed = run.view_settings.get(ACTION, []) if session is None else list(session.history)
    return [entry for entry in listed if entry.get("action") == ACTION]
