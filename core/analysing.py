"""Makes an analysis of a run: finds and orders what it reads, runs it, and tells bugs from wrong inputs."""

from __future__ import annotations

import time
import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from plaidwork.core.contract.model import Result, Results
from plaidwork.core.contract.model_data import Params
from plaidwork.core.contract.plugin_info import blamed, passes, plugin_error
from plaidwork.core.contract.spec import View
from plaidwork.core.data.dataset import Dataset
from plaidwork.core.errors import DataError, PluginError
from plaidwork.core.findings.analysis import DRAWS, Analysis, AnalysisData, AnalysisRecord, Report, has_source
from plaidwork.core.findings.analysis_inputs import AnalysisInputs
from plaidwork.core.findings.attached import AttachedFile
from plaidwork.core.findings.unlocking import open_lock
from plaidwork.core.inference.fitting_draws import check_draws
from plaidwork.core.inference.linear_algebra import one_thread
from plaidwork.core.inference.plan import hash_of
from plaidwork.core.inference.run import LogLine, Run


def run_analysis(
    run: Run,
    analysis: Analysis | str,
    inputs: Mapping[str, Any] | None = None,
    params: Mapping[str, Any] | None = None,
    *,
    datasets: Mapping[str, Dataset] | None = None,
    report: Report | None = None,
    unlock: bool = False,
) -> AnalysisRecord:
    """Make an analysis of a run and keep it in ``run.analyses``.

    Parameters
    ----------
    analysis : an analysis, or the id of an installed one.
    inputs : by name of a declared input a dataset (or array, or file name); by name of a declared annotation an
        :class:`AnnotationRef` or its text, ``"X:column:class"``, or the title alone (a list of them, or ``"all"``, where many may be
        chosen); by name of a declared file its path, or the :class:`AttachedFile` of an earlier record.
    params : settings that differ from their defaults.
    datasets : the data of the run by name; default those of its session.
    report : called with the share done; whatever it raises ends the analysis and is raised here.
    unlock : open what ``spec.unlocks`` names, should it be locked; that is noted in the run and its session.

    Raises
    ------
    SettingError, DataError : wrong settings or inputs, before anything is computed.
    LockedError : it would open what is locked, and ``unlock`` does not say so.
    ModelError : what the analysis says the user has to change.
    PluginError : a bug of the analysis; ``plugin`` names it.
    """
    record = compute_analysis(run, analysis, inputs, params, datasets=datasets, report=report, unlock=unlock)
    keep_analysis(run, record)
    return record


def keep_analysis(run: Run, record: AnalysisRecord) -> None:
    """Put what was made into its run, with a line in the log and in the record of actions."""
    run.analyses.append(record)
    run.say(f"Analysis made: {record.title}")
    if run.session is not None:
        run.session.note("analysis made", analysis=record.title, run=run.id, title=run.title)


def compute_analysis(
    run: Run,
    analysis: Analysis | str,
    inputs: Mapping[str, Any] | None = None,
    params: Mapping[str, Any] | None = None,
    *,
    datasets: Mapping[str, Dataset] | None = None,
    report: Report | None = None,
    unlock: bool = False,
) -> AnalysisRecord:
    """Like :func:`run_analysis`, but the record is not added to the run: safe in any thread."""
    from plaidwork.core.plugins.registry import registry

    known = registry()
    if isinstance(analysis, str):
        analysis = known.analysis(analysis)
    spec = analysis.spec
    values = spec.check_params(params or {})
    if reason := spec.missing(run):
        raise DataError(reason, "Let the fit keep some draws first.")
    if datasets is None:
        session = run.session
        datasets = session.datasets if session is not None else {}
    lines: list[LogLine] = []
    request = AnalysisInputs(spec, run, datasets, dict(inputs or {}), lines)
    data = request.data(known.settings_of(run))
    if known.has(run.spec.id):
        check_draws(run, known.model(run.spec.id), data)
    found_there = {role: name for role, name in spec.optional.items() if has_source(run, name)}
    needed = {role: _needed(run, name) for role, name in {**found_there, **spec.needs}.items()}
    lock = open_lock(spec, run, request.everything, unlock)
    started = time.perf_counter()
    results, views = _made(analysis, needed, data, values, report)
    return AnalysisRecord(
        id=uuid.uuid4().hex[:12],
        analysis=spec.id,
        version=spec.version,
        title=spec.title,
        params=values,
        inputs={name: tuple(d.name for d in given) for name, given in request.chosen.items()},
        annotations=request.refs,
        results=results,
        views=views,
        log=tuple(lines),
        draws=run.n_draws,
        seconds=time.perf_counter() - started,
        inputs_hash=hash_of(request.chosen) if request.chosen else "",
        files=request.files,
        standing=lock.text,
        exploratory=lock.state == "exploratory",
    )


def _made(
    analysis: Analysis, needed: Mapping[str, Any], data: AnalysisData, values: Params, report: Report | None
) -> tuple[Results, tuple[View, ...]]:
    """What the analysis finds, and the views of it. Raises ``PluginError`` for its bugs; what ``report`` raises passes."""
    watched = _Watched(report)
    try:
        with one_thread():
            found = analysis.run(needed, data, values, watched)
        watched.check()
        views = analysis.views(found)
        return _checked(views, found), views
    except BaseException as error:
        if error is watched.raised or passes(error):
            raise
        hint = "This is an error in the plugin, not in your data."
        raise plugin_error(analysis, "run", error, hint, when=analysis.spec.title) from error


def examine_file(analysis: Analysis, name: str, file: AttachedFile) -> str:
    """What a file that was chosen holds, in the words of the analysis.

    Raises ``DataError`` when it is not what was asked for, ``PluginError`` for a bug of the analysis.
    """
    with blamed(analysis, "examine"):
        return str(analysis.examine(name, file))


class _Watched:
    """The report handed to an analysis; remembers what it raised, so that a cancellation is not taken for a bug."""

    def __init__(self, report: Report | None) -> None:
        self._report = report
        self.raised: Exception | None = None

    def __call__(self, share: float) -> None:
        self.check()
        if self._report is not None:
            try:
                self._report(min(1.0, max(0.0, float(share))))
            except Exception as error:
                self.raised = error
                raise

    def check(self) -> None:
        """Raise again what was raised before, should the analysis have caught it."""
        if self.raised is not None:
            raise self.raised


def _needed(run: Run, name: str) -> Any:
    if not name.startswith(DRAWS):
        return run.results[name]
    variable = run.spec.variable(name.removeprefix(DRAWS))
    dims = ("chain", "draw", *variable.dims)
    return Result(run.kept().stack(variable.name), dims, variable.unit, variable.label)


def _checked(views: Sequence[View], found: Any) -> Results:
    """The results, once the views find what they show. Raises ``PluginError``."""

    from plaidwork.core.inference.result_checks import checked_results

    checked_results(found)
    for view in views:
        named = [
            source for source in view.source.values() if not source.startswith(("data:", "fitted:", DRAWS))
        ]
        for name in (*named, *filter(None, (view.headline, view.caption))):
            if name not in found:
                raise PluginError(
                    f"the view “{view.title}” needs the result “{name}”, which it did not return"
                )
    return dict(found)
