"""Edits of a session that can be taken back: what stood before and after, and the way from one to the other.

Datasets are immutable and runs are shared by reference, so a few small dictionaries tell how a session stands. Only what an
edit changed is put back: fits that were started since stay.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from plaidwork.core.data.dataset import Dataset
from plaidwork.core.errors import DataError, PlaidworkError, SessionError
from plaidwork.core.inference.run import Run
from plaidwork.core.session.actions import EDITED, recorded_since, take_back
from plaidwork.core.session.session import Session

if TYPE_CHECKING:
    from plaidwork.core.findings.analysis import AnalysisRecord

LIMIT = 200
"""Edits that can be taken back."""
BYTES = 1_000_000_000
"""What datasets that only the edits hold may take together; beyond it the oldest edits are forgotten."""

_K = TypeVar("_K")
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class _Words:
    """What somebody has written about a run, the selections kept under a name, and the analyses by their ids."""

    title: str
    notes: str
    item_names: Mapping[str, Mapping[str, str]]
    item_notes: Mapping[str, Mapping[str, str]]
    named: Mapping[str, Any]
    analyses: Mapping[str, AnalysisRecord]

    @classmethod
    def of(cls, run: Run) -> _Words:
        analyses = {record.id: record for record in run.analyses}
        names, notes = dict(run.item_names), dict(run.item_notes)
        return cls(run.title, run.notes, names, notes, named_selections(run), analyses)

    def put(self, run: Run, start: _Words) -> None:
        """Change a run in what differs from ``start``."""
        if self.title != start.title:
            run.title = self.title
        if self.notes != start.notes:
            run.notes = self.notes
        if self.item_names != start.item_names:
            run.item_names = {dim: dict(names) for dim, names in self.item_names.items()}
        if self.item_notes != start.item_notes:
            run.item_notes = {dim: dict(notes) for dim, notes in self.item_notes.items()}
        if self.named != start.named:
            kept = run.view_settings.get("selection", {})
            run.view_settings["selection"] = {**kept, "named": dict(self.named)}
        now = {record.id: record for record in run.analyses}
        run.analyses = list(_moved(now, start.analyses, self.analyses).values())

    def __eq__(self, other: object) -> bool:
        """Analyses are compared by who they are, for they hold arrays."""
        return (
            isinstance(other, _Words)
            and (self.title, self.notes, self.item_names, self.item_notes, self.named)
            == (other.title, other.notes, other.item_names, other.item_notes, other.named)
            and list(self.analyses) == list(other.analyses)
        )

    __hash__ = None  # type: ignore[assignment]


def named_selections(run: Run) -> dict[str, Any]:
    """The selections of a run that are kept under a name, as they are stored."""
    kept = run.view_settings.get("selection", {})
    found = kept.get("named", {}) if isinstance(kept, dict) else {}
    return dict(found) if isinstance(found, dict) else {}


@dataclass(frozen=True, slots=True)
class Standing:
    """Datasets, runs and searches of a session in their order, the words on each run and the notes on all, at one moment."""

    datasets: Mapping[str, Dataset]
    runs: Mapping[str, Run]
    words: Mapping[str, _Words]
    studies: Mapping[str, dict[str, Any]]
    notes: str

    @classmethod
    def of(cls, session: Session) -> Standing:
        """How a session stands now."""
        words = {key: _Words.of(run) for key, run in session.runs.items()}
        return cls(dict(session.datasets), dict(session.runs), words, _studies(session), session.notes)


def _studies(session: Session) -> dict[str, dict[str, Any]]:
    """The records of the searches by their ids; one that changes is another value from then on."""
    return {str(one.get("id", place)): one for place, one in enumerate(session.studies)}


def _fits(record: Mapping[str, Any]) -> dict[int, Any]:
    return {job["number"]: job for job in record["jobs"]}


def _edited(old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    """Whether a search has another title or other fits; how far these are is no edit."""
    return old is not new and (old["title"] != new["title"] or list(_fits(old)) != list(_fits(new)))


def _study_moved(now: Mapping[str, Any], start: Mapping[str, Any], end: Mapping[str, Any]) -> dict[str, Any]:
    fits = _moved(_fits(now), _fits(start), _fits(end), values=False)
    return {**now, "title": end["title"], "jobs": list(fits.values())}


@dataclass(frozen=True, slots=True)
class Edit:
    """One step: its name (``Remove “plaid 2”``), and the session before and after it.

    ``key`` is not empty for what somebody types bit by bit: successive edits of one key are one step. ``renamed`` are the old
    and the new name of a dataset, which the runs that use it follow.
    """

    name: str
    before: Standing
    after: Standing
    key: str = ""
    renamed: tuple[str, str] | None = None

    @property
    def empty(self) -> bool:
        """Whether nothing has changed."""
        return (
            self.renamed is None
            and not self.datasets_changed
            and list(self.before.runs) == list(self.after.runs)
            and not self.runs_changed
            and not self.studies_changed
            and self.before.notes == self.after.notes
        )

    @property
    def datasets_changed(self) -> list[str]:
        """Names of datasets that came, went or are others now."""
        old, new = self.before.datasets, self.after.datasets
        return [name for name in {**old, **new} if old.get(name) is not new.get(name)]

    @property
    def runs_changed(self) -> list[str]:
        """Ids of runs that came, went or are described in other words now."""
        old, new = self.before.words, self.after.words
        return [key for key in {**old, **new} if old.get(key) != new.get(key)]

    @property
    def studies_changed(self) -> list[str]:
        """Ids of searches that came, went, or have another title or other fits now."""
        old, new = self.before.studies, self.after.studies
        return [
            key for key in {**old, **new} if key not in old or key not in new or _edited(old[key], new[key])
        ]

    def joined(self, later: Step) -> Edit | None:
        """It and a later step as one, when that goes on with it and nothing else has changed in between."""
        if not isinstance(later, Edit) or not self.key or self.key != later.key:
            return None
        if not Edit("", self.after, later.before).empty:
            return None
        return Edit(later.name, self.before, later.after, self.key)

    def apply(self, session: Session, *, back: bool, under_way: Collection[str] = ()) -> None:
        """Take the step back, or make it again; ``under_way`` are ids of searches. Raises ``PlaidworkError`` when it cannot
        be; nothing is changed then."""
        start, end = (self.after, self.before) if back else (self.before, self.after)
        if self.renamed is not None:
            session.rename_dataset(*(reversed(self.renamed) if back else self.renamed), noted=False)
            return
        _check(session, start, end)
        _check_studies(session, start, end, under_way)
        session.datasets = _moved(session.datasets, start.datasets, end.datasets)
        session.runs = _moved(session.runs, start.runs, end.runs)
        if start.notes != end.notes:
            session.notes = end.notes
        for key, words in end.words.items():
            if key in start.words and start.words[key] != words:
                words.put(session.runs[key], start.words[key])
        if self.studies_changed:
            now = _moved(_studies(session), start.studies, end.studies, values=False)
            both = {key for key in self.studies_changed if key in start.studies and key in end.studies}
            session.studies = [
                _study_moved(record, start.studies[key], end.studies[key]) if key in both else record
                for key, record in now.items()
            ]


@dataclass(frozen=True, slots=True)
class Setting:
    """A step beside the session: a setting of a fit that is being set up, which ``back`` and ``forth`` show before and after.

    Successive steps of one ``key`` of an ``owner`` are one.
    """

    name: str
    key: str
    owner: object
    back: Callable[[], object]
    forth: Callable[[], object]

    def joined(self, later: Step) -> Setting | None:
        """It and a later step as one, when that goes on with it."""
        if not isinstance(later, Setting) or later.owner is not self.owner or later.key != self.key:
            return None
        return replace(later, back=self.back)

    def apply(self, session: Session, *, back: bool, under_way: Collection[str] = ()) -> None:
        """Show what was set before, or after it. Raises ``PlaidworkError`` when it cannot be."""
        (self.back if back else self.forth)()


Step = Edit | Setting


def _check(session: Session, start: Standing, end: Standing) -> None:
    """Raise when a run under way, or data that are used, would go, or a name is taken by now."""
    for key in start.runs.keys() - end.runs.keys():
        run = session.runs[key]
        if run.active:
            raise SessionError(f"{run.title} is running.", "Stop it first.")
    left = [run for key, run in session.runs.items() if key not in start.runs or key in end.runs]
    for name in start.datasets.keys() - end.datasets.keys():
        users = [run.title for run in left if any(name in names for names in run.inputs.values())]
        users += [
            one["title"]
            for key, one in _studies(session).items()
            if any(name in names for names in one["inputs"].values())
            if key not in start.studies or key in end.studies
        ]
        if users:
            raise DataError(f"“{name}” is used by {', '.join(users)}.", "Remove those first.")
    for name in end.datasets.keys() - start.datasets.keys():
        if name in session.datasets:
            raise DataError(f"“{name}” is already taken.", "Give the other data another name first.")


def _check_studies(session: Session, start: Standing, end: Standing, under_way: Collection[str]) -> None:
    """Raise when a search under way would go or have other fits, or a fit that was picked would go."""
    now = _studies(session)
    for key, before in start.studies.items():
        if key not in now or (key in end.studies and not _edited(before, end.studies[key])):
            continue
        left = _fits(end.studies[key]) if key in end.studies else {}
        if list(_fits(before)) != list(left) and key in under_way:
            raise SessionError(f"{now[key]['title']} is under way.", "Stop it first.")
        picked = {choice["number"] for choice in now[key].get("choices", ())}
        for number in sorted(picked - left.keys()) if key in end.studies else ():
            raise SessionError(f"Fit {number} was picked.", "What was picked stays on record.")


def _moved(
    now: Mapping[_K, _T], start: Mapping[_K, _T], end: Mapping[_K, _T], *, values: bool = True
) -> dict[_K, _T]:
    """What the way from ``start`` to ``end`` makes of ``now``; what comes back stands behind what it stood behind.

    Without ``values`` only what is there changes, not what stands under a key before and after.
    """
    found = {key: value for key, value in now.items() if key in end or key not in start}
    order, place = list(found), 0
    for key, value in end.items():
        if key in found:
            place = order.index(key) + 1
            if values and start.get(key) is not value:
                found[key] = value
        elif key not in start:
            order.insert(place, key)
            found[key], place = value, place + 1
    return {key: found[key] for key in order}


def _place(dataset: Dataset) -> tuple[int, int]:
    """Where in memory the values are, and how many bytes; nowhere when nobody has read them yet."""
    if not dataset.at_hand:
        return 0, 0
    array = dataset.values.data if dataset.is_sparse else dataset.values
    return int(array.__array_interface__["data"][0]), dataset.nbytes


class Edits:
    """The edits of one session, newest last; ``changed`` is called after each step with the edit and whether it was taken back
    (None: it was made just now). ``under_way`` tells the ids of searches that are."""

    def __init__(
        self,
        changed: Callable[[Step, bool | None], object] = lambda step, back: None,
        under_way: Callable[[], Collection[str]] = tuple,
    ) -> None:
        self._changed, self._under_way = changed, under_way
        self._done: list[Step] = []
        self._undone: list[Step] = []

    def clear(self) -> None:
        """Forget all: another session is shown."""
        self._done.clear()
        self._undone.clear()

    @property
    def undo_name(self) -> str:
        """What would be taken back; empty for nothing."""
        return self._done[-1].name if self._done else ""

    @property
    def redo_name(self) -> str:
        """What would be made again; empty for nothing."""
        return self._undone[-1].name if self._undone else ""

    @contextmanager
    def making(
        self, session: Session, name: str, key: str = "", renamed: tuple[str, str] | None = None
    ) -> Iterator[None]:
        """What is done to the session meanwhile becomes a step; all of it is taken back when it raises ``PlaidworkError``."""
        before, told = Standing.of(session), session.history[-1] if session.history else None
        try:
            yield
        except PlaidworkError:
            if renamed is None:  # a name that is refused has changed nothing
                Edit(name, before, Standing.of(session)).apply(session, back=True)
            take_back(session.history, told)
            raise
        edit = Edit(name, before, Standing.of(session), key, renamed)
        if not edit.empty:
            goes_on = self._add(edit)
            while len(self._done) > 1 and self._held(session) > BYTES:
                del self._done[0]
            if not goes_on and not recorded_since(session.history, told):
                session.note(EDITED, edit=name)
            self._changed(edit, None)

    def made(self, step: Setting) -> None:
        """A step beside the session was made."""
        self._add(step)
        self._changed(step, None)

    def forget(self, owner: object) -> bool:
        """Forget the settings of an owner that is gone; whether there were any."""
        before = len(self._done) + len(self._undone)
        for steps in (self._done, self._undone):
            steps[:] = [step for step in steps if not isinstance(step, Setting) or step.owner is not owner]
        return len(self._done) + len(self._undone) < before

    def _add(self, step: Step) -> bool:
        """Make it the last step; whether it goes on with the one before."""
        joined = self._done[-1].joined(step) if self._done else None
        self._undone.clear()
        self._done[len(self._done) - (joined is not None) :] = [joined or step]
        del self._done[:-LIMIT]
        return joined is not None

    def _held(self, session: Session) -> int:
        """Bytes of the data that only the edits hold; another name or note is no other data."""
        held = {
            id(dataset): dataset
            for step in self._done
            if isinstance(step, Edit)
            for standing in (step.before, step.after)
            for dataset in standing.datasets.values()
        }
        kept = dict(map(_place, held.values()))
        shown = dict(map(_place, session.datasets.values()))
        return sum(size for place, size in kept.items() if place not in shown)

    def undo(self, session: Session) -> str:
        """Take the last step back. Returns its name, empty when there is none. Raises ``PlaidworkError`` when it cannot be."""
        return self._step(session, self._done, self._undone, back=True)

    def redo(self, session: Session) -> str:
        """Make the step that was taken back last again; as :meth:`undo`."""
        return self._step(session, self._undone, self._done, back=False)

    def _step(self, session: Session, source: list[Step], target: list[Step], *, back: bool) -> str:
        if not source:
            return ""
        step = source[-1]
        step.apply(session, back=back, under_way=self._under_way())
        target.append(source.pop())
        if isinstance(step, Edit):
            session.note("undone" if back else "redone", edit=step.name)
        self._changed(step, back)
        return step.name
