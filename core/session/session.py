"""A session in memory: datasets, runs, notes and their history; saved as one file."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plaidwork.core.contract.plugin_info import blamed
from plaidwork.core.data.dataset import Dataset
from plaidwork.core.draws.chain import ChainRecord, copy_state
from plaidwork.core.draws.counting import counted
from plaidwork.core.errors import DataError, PluginError, SessionError
from plaidwork.core.inference.plan import FitPlan, make_plan
from plaidwork.core.inference.run import Run, now
from plaidwork.core.session.actions import record_action

if TYPE_CHECKING:
    from plaidwork.core.contract.model import Model
    from plaidwork.core.plugins.registry import Registry
    from plaidwork.core.session.store.linked import Link
    from plaidwork.core.session.store.mark import FileMark


@dataclass
class Session:
    """Everything the window shows and one ``.plaidwork`` file holds.

    ``history`` is the record of actions (dicts with ``time``, ``action``, ``version`` and details), written by ``note``.
    ``views`` is kept for the window: JSON-ready values and bytes by name.
    """

    name: str = "Untitled"
    uuid: str = field(default_factory=lambda: str(uuid.uuid4()))
    created: str = field(default_factory=now)
    datasets: dict[str, Dataset] = field(default_factory=dict)
    runs: dict[str, Run] = field(default_factory=dict)
    notes: str = ""
    history: list[dict[str, Any]] = field(default_factory=list)
    views: dict[str, Any] = field(default_factory=dict)
    studies: list[dict[str, Any]] = field(default_factory=list)
    """Studies that were made (see :mod:`plaidwork.core.study`), JSON-ready."""
    path: Path | None = None
    read_only: str = ""
    """Why the file must not be written (newer format, open elsewhere), or empty."""
    left_behind: str = ""
    """Key of the unsaved work that this session was made of; it goes once the session is saved."""
    links: dict[str, Link] = field(default_factory=dict)
    """Files that hold the values of data in place of the session file, by the digest of the dataset."""
    mark: FileMark | None = None
    """What the file at ``path`` was when it was read or written."""

    def __repr__(self) -> str:
        data, runs = counted(len(self.datasets), "data set"), counted(len(self.runs), "run")
        return f"Session({self.name!r}: {data}, {runs})"

    def note(self, action: str, **details: Any) -> None:
        """Add to the record of actions."""
        record_action(self.history, action, details)

    def add_dataset(self, dataset: Dataset) -> Dataset:
        """Add a dataset under its name, made unique with a number if it is taken. Returns what was added."""
        name, number = dataset.name, 2
        while name in self.datasets:
            name, number = f"{dataset.name} {number}", number + 1
        dataset = dataset.with_(name=name)
        self.datasets[name] = dataset
        self.note("data added", dataset=name, file=dataset.source.file, shape=list(dataset.shape))
        return dataset

    def replace_dataset(self, old: str, dataset: Dataset) -> None:
        """Put another version under the same name; runs keep the data hash of what they were fitted to."""
        self.datasets[old] = dataset.with_(name=old)
        self.note("data changed", dataset=old, steps=[str(step) for step in dataset.steps])

    def rename_dataset(self, old: str, name: str, *, noted: bool = True) -> None:
        """Give a dataset another name, also in the runs and studies that use it. Raises ``DataError`` if it is taken."""
        if name in self.datasets:
            raise DataError(f"“{name}” is already taken.", "Choose another name.")
        self.datasets = {
            (name if key == old else key): (item.with_(name=name) if key == old else item)
            for key, item in self.datasets.items()
        }
        for run in self.runs.values():
            run.inputs = renamed_inputs(run.inputs, old, name)
        # each record a new one: edits that can be taken back hold the earlier ones
        self.studies[:] = [_with_renamed_inputs(study, old, name) for study in self.studies]
        if noted:
            self.note("data renamed", dataset=name, before=old)

    def remove_dataset(self, name: str) -> None:
        """Remove a dataset that no run and no study uses. Raises ``DataError`` otherwise."""
        users = [
            run.title for run in self.runs.values() if any(name in names for names in run.inputs.values())
        ]
        users += [s["title"] for s in self.studies if any(name in names for names in s["inputs"].values())]
        if users:
            raise DataError(f"“{name}” is used by {', '.join(users)}.", "Remove those first.")
        del self.datasets[name]
        self.note("data removed", dataset=name)

    def remove_study(self, study_id: str) -> None:
        """Take a search out; runs of its fits that were opened stay."""
        (gone,) = (study for study in self.studies if study.get("id") == study_id)
        self.studies[:] = [study for study in self.studies if study is not gone]
        self.note("study removed", study=study_id, title=gone["title"])

    def add_run(self, plan: FitPlan, title: str = "") -> Run:
        """A new run of a plan whose datasets are in this session; numbered per model."""
        for one in plan.placed:
            if one.made is not None:  # as it was before inputs were joined
                self.datasets.setdefault(one.made.name, one.made)
        for datasets in plan.inputs.values():
            for dataset in datasets:
                if dataset.name not in self.datasets:
                    self.datasets[dataset.name] = dataset
        number = 1 + sum(run.spec.id == plan.spec.id for run in self.runs.values())
        taken = {run.title for run in self.runs.values()}
        while not title or title in taken:
            title, number = f"{plan.spec.title} {number}", number + 1
        run = Run.from_plan(plan, title)
        run.session = self
        self.runs[run.id] = run
        self.note("run added", run=run.id, title=title, model=plan.spec.id, seed=plan.seed)
        return run

    def remove_run(self, run_id: str) -> Run:
        """Take a run out. Raises ``SessionError`` while it is under way."""
        if self.runs[run_id].active:
            raise SessionError(f"{self.runs[run_id].title} is running.", "Stop it first.")
        run = self.runs.pop(run_id)
        self.note("run removed", run=run_id, title=run.title)
        return run

    def plan_of(self, run: Run, registry: Registry) -> FitPlan:
        """The plan of a stored run, for going on with it.

        Raises ``SessionError`` when the model is missing, the data are not those it was fitted to, or it is of a compact copy.
        """
        if run.stateless:
            raise SessionError(
                f"{run.title} is of a compact copy: it can be looked at, but not go on or be repeated.",
                "Open the session that was copied, or start a new fit with the same settings.",
            )
        model = registry.model(run.spec.id)
        missing = [name for names in run.inputs.values() for name in names if name not in self.datasets]
        if missing:
            raise SessionError(f"{run.title} needs data that are not in the session: {', '.join(missing)}.")
        inputs = {key: [self.datasets[name] for name in names] for key, names in run.inputs.items()}
        plan = make_plan(
            model,
            inputs,
            model.spec.stored_params(run.params),
            schedule=run.schedule,
            seed=run.seed,
            holdout=run.holdout,
            turn=False,  # what had to be turned was turned before the fit
        )
        if plan.data_hash != run.data_hash:
            raise SessionError(
                f"The data of {run.title} have changed since it was fitted.",
                "Undo the change, or start a new fit with the data as they are now.",
            )
        if model.spec.state_version != run.spec.state_version:
            _upgrade(model, run, plan)
        return plan

    def save(self, path: str | Path | None = None, *, replace: bool = False) -> Path:
        """Write the session file (atomically). Raises ``SessionError``; the old file is then as it was.

        ``ChangedError`` is raised when another program has changed the file since it was opened, unless ``replace``. Under
        another name it is a session of its own, with a new ``uuid``.
        """
        from plaidwork.core.session.store.session_saving import save

        return save(self, path, replace=replace)


def _upgrade(model: Model, run: Run, plan: FitPlan) -> None:
    """States and checkpoints of an earlier version in today's form: those of all chains, or of none.

    A model sees them as the file had them, and only then are they compared with its own: what it cannot do with one is said of the
    file, with the method that failed. Raises ``SessionError``, and what the model raises for the user.
    """
    before = run.spec.state_version

    def today(record: ChainRecord, state: Any) -> Any:
        if state is None:
            return None
        try:
            with blamed(model, "upgrade_state"):
                return model.upgrade_state(copy_state(state), before, plan.data, plan.params)
        except PluginError as error:
            if error.fault is None or not record.foreign:
                raise
            raise SessionError(
                f"Chain {record.chain + 1} of {run.title} cannot go on: its stored state is of version {before}, and is not "
                f"one that {error.fault.title} can turn into today's form ({error.fault.error}).",
                "The file is damaged, or somebody changed it; if neither can be, tell the author of the model. What it holds can "
                "be looked at; to go on, start a new fit with the same settings.",
            ) from error

    found = [
        (
            today(record, record.state),
            record.saved and replace(record.saved, state=today(record, record.saved.state)),
        )
        for record in run.chains
    ]
    for record, (state, saved) in zip(run.chains, found, strict=True):
        record.state, record.saved = state, saved
    run.spec = replace(run.spec, state_version=model.spec.state_version)


def _with_renamed_inputs(study: Mapping[str, Any], old: str, name: str) -> dict[str, Any]:
    inputs = renamed_inputs(study["inputs"], old, name)
    return {**study, "inputs": {key: list(names) for key, names in inputs.items()}}


def renamed_inputs(inputs: Mapping[str, Sequence[str]], old: str, name: str) -> dict[str, tuple[str, ...]]:
    """Names of datasets by input, with one of them under another name."""
    return {key: tuple(name if item == old else item for item in names) for key, names in inputs.items()}


def session_dataset(path: str | Path, title: str | None = None) -> Dataset:
    """The dataset of a session file that is called ``title``; without a title the only one there.

    Raises ``SessionError`` for a file that is not a session, ``DataError`` when it holds no such data.
    """
    found = open_session(path).datasets
    if title is None and len(found) == 1:
        return next(iter(found.values()))
    if title in found:
        return found[title]
    titles = ", ".join(f"“{name}”" for name in found) or "none"
    said = f"holds no data “{title}”" if title is not None else f"holds {counted(len(found), 'dataset')}"
    raise DataError(f"{path} {said}.", f"Say which with the import option data=TITLE. There are: {titles}.")


def open_session(path: str | Path, *, any_size: bool = False) -> Session:
    """Read a session file. Raises ``SessionError`` when it is not one, or is damaged.

    ``LimitError`` is raised for one that another installation made and that is larger than this computer opens without a
    question; with ``any_size`` it is opened.
    """
    from plaidwork.core.session.store.session_file import load

    return load(path, Session, any_size=any_size)
