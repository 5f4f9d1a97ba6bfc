"""What a session keeps of a study: settings, numbers and choices, without model and draws."""

from __future__ import annotations

import math
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

from plaidwork.core.contract.metric import Metric, undeclared_metric
from plaidwork.core.contract.model import Table
from plaidwork.core.contract.schedule import Schedule
from plaidwork.core.contract.typed import built, fitting
from plaidwork.core.errors import SettingError
from plaidwork.core.inference.run import is_moment, now
from plaidwork.core.study.by_view import view_table
from plaidwork.core.study.job import StudyJob
from plaidwork.core.study.tables import record_table, setting_table, shown

if TYPE_CHECKING:
    from plaidwork.core.session.session import Session


@dataclass(frozen=True, slots=True)
class StudyChoice:
    """A fit that was picked: its number, when, by which metric the fits were ranked then, and that number.

    The first pick of a study is confirmatory, every later one ``exploratory``: it was made knowing more.
    """

    number: int
    time: str
    exploratory: bool
    metric: str = ""
    value: float | None = None


@dataclass
class StudyRecord:
    """All of a study but the draws; can be looked at, ranked and picked from without the model.

    Attributes
    ----------
    model_id, version, model_title : which model was fitted.
    input_names : names of the session's datasets by input.
    data_hash : of the data that the fits were made with.
    metric : how the fits are ranked; ``metrics`` are all that are known.
    varied : names of the settings that differ between fits, with ``titles``.
    jobs : all fits in the order they were planned.
    choices : what was picked, oldest first.
    """

    model_id: str
    version: str
    model_title: str
    input_names: Mapping[str, tuple[str, ...]]
    jobs: list[StudyJob]
    metric: Metric
    schedule: Schedule
    metrics: list[Metric] = field(default_factory=list)
    varied: tuple[str, ...] = ()
    titles: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Words for the values of settings with choices."""
    title: str = ""
    holdout: float = 0.0
    data_hash: str = ""
    id: str = field(default_factory=lambda: uuid.uuid4().hex[:12])
    created: str = field(default_factory=now)
    choices: list[StudyChoice] = field(default_factory=list)

    # -- fits -----------------------------------------------------------------------------------
    def job(self, number: int) -> StudyJob:
        """The fit of this number. Raises ``SettingError``."""
        for job in self.jobs:
            if job.number == number:
                return job
        raise SettingError(f"“{self.title}” has no fit {number}.")

    def count(self, *statuses: str) -> int:
        """How many fits have one of these statuses."""
        return sum(job.status in statuses for job in self.jobs)

    @property
    def seeds(self) -> tuple[int, ...]:
        """The seeds of all fits, each once."""
        return tuple(dict.fromkeys(job.seed for job in self.jobs))

    def name_of(self, job: StudyJob) -> str:
        """Title of a fit's run: its number, what differs, and the study."""
        parts = [f"{self.titles.get(name, name)} {self.value_text(job, name)}" for name in self.varied]
        if len(self.seeds) > 1 or not parts:
            parts.append(f"seed {job.seed}")
        return f"Fit {job.number}: {', '.join(parts)} ({self.title})"

    def settings_text(self, job: StudyJob) -> str:
        """The settings that differ, and the seed."""
        parts = [f"{name} {shown(job.params[name])}" for name in self.varied]
        return ", ".join([*parts, f"seed {job.seed}"])

    def value_text(self, job: StudyJob, name: str) -> str:
        """A setting of a fit in words."""
        text = shown(job.params[name])
        return self.labels.get(name, {}).get(text, text)

    def remove(self, numbers: Iterable[int], session: Session | None = None) -> None:
        """Take fits out. Raises ``SettingError`` for one that is running or was picked."""
        gone = set(numbers)
        for number in gone:
            if self.job(number).status == "running":
                raise SettingError(f"Fit {number} is running.", "Stop it first.")
            if any(choice.number == number for choice in self.choices):
                raise SettingError(f"Fit {number} was picked.", "What was picked stays on record.")
        self.jobs[:] = [job for job in self.jobs if job.number not in gone]
        if session is not None and gone:
            session.note("study fits removed", study=self.id, title=self.title, fits=sorted(gone))

    # -- ranking --------------------------------------------------------------------------------
    def ranked(self) -> list[StudyJob]:
        """Fits that have ended, best first; those without a number last."""
        return sorted((job for job in self.jobs if job.ended), key=self._rank)

    def _rank(self, job: StudyJob) -> tuple[bool, bool, float, int]:
        sign = 1.0 if self.metric.goal == "down" else -1.0
        unknown = math.isnan(job.metric)
        return job.status != "done", unknown, 0.0 if unknown else sign * job.metric, job.number

    @property
    def best(self) -> StudyJob | None:
        """The best fit that is done."""
        found = [job for job in self.ranked() if job.status == "done" and not math.isnan(job.metric)]
        return found[0] if found else None

    def known_metrics(self) -> list[Metric]:
        """Those declared, and every single number that a fit has given besides."""
        found = {metric.key: metric for metric in (*self.metrics, self.metric)}
        for job in self.jobs:
            for key in job.metrics:
                metric = undeclared_metric(key)
                found.setdefault(key, replace(metric, goal=metric.goal or "up"))
        return list(found.values())

    def rank_by(self, key: str) -> None:
        """Rank by another metric. Raises ``SettingError`` when there is none of that name."""
        metric = next((metric for metric in self.known_metrics() if key in (metric.key, metric.title)), None)
        if metric is None:
            known = ", ".join(metric.key for metric in self.known_metrics())
            raise SettingError(f"“{self.title}” has no metric “{key}”.", f"Known: {known}.")
        self.metric = metric
        for job in self.jobs:
            job.metric = job.metrics.get(metric.key, math.nan)

    def doubt(self, metric: Metric | None = None) -> str:
        """Why the ranking by a metric (default the one in use) is not sound, or empty."""
        metric = metric or self.metric
        across = [n for n in metric.incomparable(self.varied) if len(self._values(n)) > 1]
        if not across:
            return ""
        names = ", ".join(self.titles.get(name, name) for name in across)
        doc = f" {metric.doc[:1].upper()}{metric.doc[1:].rstrip('.')}." if metric.doc else ""
        return (
            f"{metric.name} cannot be compared across {names}: it ranks only fits with the same values.{doc}"
        )

    def _values(self, name: str) -> set[str]:
        return {shown(job.params[name]) for job in self.jobs}

    # -- picking --------------------------------------------------------------------------------
    @property
    def chosen(self) -> StudyChoice | None:
        """What is picked now."""
        return self.choices[-1] if self.choices else None

    def choose(self, number: int, session: Session | None = None) -> StudyChoice:
        """Pick a fit, with the time; a second pick is flagged exploratory. Noted in the session's history.

        Raises ``SettingError`` for a fit that is not done. Picking the same one again changes nothing.
        """
        job = self.job(number)
        if job.status != "done":
            raise SettingError(
                f"Fit {number} is {job.status}.", "Only a fit that is done to its end can be picked."
            )
        if self.chosen is not None and self.chosen.number == number:
            return self.chosen
        value = job.metric if math.isfinite(job.metric) else None
        choice = StudyChoice(number, now(), bool(self.choices), self.metric.name, value)
        self.choices.append(choice)
        if session is not None:
            session.note("study fit picked", study=self.id, title=self.title, **_of_choice(choice))
            self.put(session)
        return choice

    # -- tables and storage ---------------------------------------------------------------------
    def table(self) -> Table:
        """One line per fit, in the order they were planned."""
        return record_table(self)

    def by_setting(self) -> Table:
        """Mean and standard deviation of the metric over the seeds, per combination of the grid; best first."""
        return setting_table(self)

    def by_view(self) -> Table | None:
        """Log density of what the fits have not seen, by view and combination of the grid; None where there are not several
        views, or nothing is known."""
        return view_table(self)

    def to_json(self) -> dict[str, Any]:
        """All but the draws, JSON-ready: what a session keeps in ``session.studies``."""
        return {
            "id": self.id,
            "title": self.title,
            "model": self.model_id,
            "version": self.version,
            "model_title": self.model_title,
            "created": self.created,
            "inputs": {name: list(names) for name, names in self.input_names.items()},
            "data_hash": self.data_hash,
            "schedule": {name: getattr(self.schedule, name) for name in Schedule.__slots__},
            "holdout": self.holdout,
            "metric": self.metric.to_json(),
            "metrics": [metric.to_json() for metric in self.metrics],
            "varied": list(self.varied),
            "titles": dict(self.titles),
            "labels": {name: dict(texts) for name, texts in self.labels.items()},
            "choices": [asdict(choice) for choice in self.choices],
            "jobs": [job.to_json() for job in self.jobs],
        }

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> StudyRecord:
        """What :meth:`to_json` wrote. Raises ``KeyError``, ``TypeError`` or ``ValueError`` when it is damaged."""
        found = StudyRecord(
            model_id=str(record["model"]),
            version=str(record.get("version", "")),
            model_title=str(record.get("model_title", record["model"])),
            input_names=fitting(record["inputs"], Mapping[str, tuple[str, ...]], "inputs"),
            jobs=[StudyJob.from_json(job) for job in record["jobs"]],
            metric=Metric.from_json(record["metric"]),
            schedule=Schedule(**record["schedule"]),
            metrics=[Metric.from_json(metric) for metric in record.get("metrics", ())],
            varied=fitting(record["varied"], tuple[str, ...], "varied"),
            titles=fitting(record.get("titles", {}), Mapping[str, str], "titles"),
            labels=fitting(record.get("labels", {}), Mapping[str, Mapping[str, str]], "labels"),
            title=str(record["title"]),
            holdout=float(record.get("holdout", 0.0)),
            data_hash=str(record.get("data_hash", "")),
            id=str(record["id"]),
            created=str(record.get("created", "")),
            choices=[built(StudyChoice, choice) for choice in record.get("choices", ())],
        )
        if not all(name in job.params for job in found.jobs for name in found.varied):
            raise ValueError("a fit does not say what varies")
        if not all(is_moment(choice.time) for choice in found.choices):
            raise ValueError("a choice has no time")
        return found

    def put(self, session: Session) -> None:
        """Write the record as it is now into the session, in the place of the one before."""
        record = self.to_json()
        for index, old in enumerate(session.studies):
            if old.get("id") == self.id:
                session.studies[index] = record
                return
        session.studies.append(record)
        session.note("study", study=self.id, title=self.title, model=self.model_id, jobs=len(self.jobs))


def _of_choice(choice: StudyChoice) -> dict[str, Any]:
    values = {"fit": choice.number, "exploratory": choice.exploratory, "ranked_by": choice.metric}
    return values if choice.value is None else {**values, "value": choice.value}


def study_records(studies: Sequence[Mapping[str, Any]]) -> list[StudyRecord]:
    """The studies of a session that can be read; a damaged one is left out."""
    found = []
    for record in studies:
        try:
            found.append(StudyRecord.from_json(record))
        except (KeyError, TypeError, ValueError, AttributeError, SettingError):
            continue
    return found


def choice_of_run(studies: Sequence[Mapping[str, Any]], run_id: str) -> StudyChoice | None:
    """The latest pick of the fit that a run of the session is, or None: was this run chosen, and was that confirmatory?"""
    for record in study_records(studies):
        numbers = {job.number for job in record.jobs if job.run_id == run_id and run_id}
        picked = [choice for choice in record.choices if choice.number in numbers]
        if picked:
            return picked[-1]
    return None


def study_table(record: Mapping[str, Any]) -> Table:
    """One line per job of a study as stored: what varies, seed, status, metric, rank, seconds."""
    return StudyRecord.from_json(record).table()
