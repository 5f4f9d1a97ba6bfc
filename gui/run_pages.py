"""Which tabs a run, a search, a dataset or a new fit has."""

from __future__ import annotations

from functools import partial

from plaidwork.core.inference.run import Run
from plaidwork.core.session.offers import views_with
from plaidwork.core.views.printing import NOT_TO_DRAW, leading_view, offered
from plaidwork.gui.page import Page
from plaidwork.gui.workbench import DIAGNOSTICS, Workbench
from plaidwork.gui.workspace import PageInfo

TRACES, ANALYSES, SETTINGS = "traces", "analyses", "settings"
BESIDE, _AND = "beside", " + "
"""Where a session keeps views that stand beside each other, and what joins their keys."""


def run_pages(workbench: Workbench, run: Run) -> list[PageInfo]:
    """Traces, every view that the model declared, diagnostics, analyses, settings.

    The traces come first while the run is under way, the declared views once it has ended. Keys carry the run
    id, so that the tabs of two runs are never mixed up. Last come the views that somebody has put beside each other.
    """
    pages = _own_pages(workbench, run)
    return [*pages, *(_split_page(workbench, run, key) for key in splits_of(workbench, run))]


def splits_of(workbench: Workbench, run: Run) -> list[str]:
    """Keys of the pairs of views of a run that stand beside each other, as the session keeps them; without those that are gone."""
    kept = workbench.session.views.get(BESIDE, {})
    pairs = kept.get(run.id, []) if isinstance(kept, dict) else []
    if not pairs or not isinstance(pairs, list):
        return []
    known = {info.key for one in workbench.session.runs.values() for info in _own_pages(workbench, one)}
    return [
        str(pair) for pair in pairs if str(pair).count(_AND) == 1 and known.issuperset(str(pair).split(_AND))
    ]


def put_beside(workbench: Workbench, run: Run, first: str, second: str) -> str:
    """Keep a pair of views of the run, or of it and another one; the key of their tab."""
    key = f"{first}{_AND}{second}"
    _keep_splits(workbench, run, [*(one for one in splits_of(workbench, run) if one != key), key])
    return key


def part(workbench: Workbench, run: Run, key: str) -> None:
    """Views that stood beside each other do so no more."""
    _keep_splits(workbench, run, [one for one in splits_of(workbench, run) if one != key])


def _keep_splits(workbench: Workbench, run: Run, keys: list[str]) -> None:
    kept = workbench.session.views.get(BESIDE, {})
    workbench.session.views[BESIDE] = {**(kept if isinstance(kept, dict) else {}), run.id: keys}
    workbench.note_view()


def _split_page(workbench: Workbench, run: Run, key: str) -> PageInfo:
    """The tab of two views, of one run or of two."""
    found = []
    for one in key.split(_AND):
        owner = workbench.session.runs[one.split("/")[0]]
        found.append((owner, next(info for info in _own_pages(workbench, owner) if info.key == one)))
    title = " | ".join(info.title for _, info in found)

    def make() -> Page:
        from plaidwork.gui.split_page import SplitPage

        return SplitPage([(f"{owner.title}: {info.title}", info.make) for owner, info in found])

    return PageInfo(key, title, "layers", make)


def _own_pages(workbench: Workbench, run: Run) -> list[PageInfo]:
    """The pages of a run by themselves."""
    traces = PageInfo(
        f"{run.id}/{TRACES}",
        "Live" if run.active else "Traces",
        "traces",
        lambda: _live(workbench, run),
        common=not run.active,
    )
    views = [_views_page(workbench, run, indices) for indices in _grouped(workbench, run)]
    rest = [
        PageInfo(
            f"{run.id}/{DIAGNOSTICS}", "Diagnostics", "target", lambda: _diagnostics(workbench, run), True
        ),
        PageInfo(f"{run.id}/{ANALYSES}", "Analyses", "search", lambda: _analyses(workbench, run), True),
        PageInfo(f"{run.id}/{SETTINGS}", "Settings", "sliders", lambda: _settings(workbench, run), True),
    ]
    return [traces, *views, *rest] if run.active or not run.results else [*views, traces, *rest]


def first_view_key(workbench: Workbench, run: Run) -> str:
    """Key of the tab that a run with results opens on."""
    groups = _grouped(workbench, run)
    return f"{run.id}/view {groups[0][0]}" if groups else f"{run.id}/{TRACES}"


def _grouped(workbench: Workbench, run: Run) -> list[list[int]]:
    """Indices of the declared views that are offered, neighbours of one group together; first those with the view that
    the run opens on."""
    groups: list[list[int]] = []
    for index, view in enumerate(run.spec.views):
        if not offered(workbench.session, run, view):
            continue
        if groups and view.group and run.spec.views[groups[-1][0]].group == view.group:
            groups[-1].append(index)
        else:
            groups.append([index])
    first = leading_view(workbench.session, run)
    return sorted(groups, key=lambda indices: first not in indices)


def _views_page(workbench: Workbench, run: Run, indices: list[int]) -> PageInfo:
    from plaidwork.gui.results.registry import view_icon

    view = run.spec.views[indices[0]]
    key = f"{run.id}/view {indices[0]}"
    if len(indices) == 1:
        title = view.group or view.title
        return PageInfo(key, title, view_icon(view), lambda: _view(workbench, run, indices[0]))
    return PageInfo(key, view.group, view_icon(view), lambda: _group(workbench, run, indices))


def _view(workbench: Workbench, run: Run, index: int) -> Page:
    from plaidwork.gui.results.registry import make_view

    return make_view(workbench, run, run.spec.views[index])


def _group(workbench: Workbench, run: Run, indices: list[int]) -> Page:
    from plaidwork.gui.group_page import GroupPage
    from plaidwork.gui.results.choices import kept_choices

    kept = kept_choices(run.view_settings, run.spec.views[indices[0]].group)
    views = [(run.spec.views[i].title, partial(_view, workbench, run, i)) for i in indices]
    leading = leading_view(workbench.session, run)
    drawn = [i for i in indices if run.spec.views[i].kind not in NOT_TO_DRAW]
    first = leading if leading in indices else (drawn or indices)[0]
    return GroupPage(views, kept, workbench.note_view, first=run.spec.views[first].title)


def _live(workbench: Workbench, run: Run) -> Page:
    from plaidwork.gui.monitor.live_page import LivePage

    return LivePage(workbench, run)


def _diagnostics(workbench: Workbench, run: Run) -> Page:
    from plaidwork.gui.monitor.diagnostics_page import DiagnosticsPage
    from plaidwork.gui.monitor.restart_diagnostics import RestartDiagnosticsPage

    return (DiagnosticsPage if run.spec.algorithm == "mcmc" else RestartDiagnosticsPage)(workbench, run)


def _analyses(workbench: Workbench, run: Run) -> Page:
    from plaidwork.gui.analyses.page import AnalysisPage

    return AnalysisPage(workbench, run)


def _settings(workbench: Workbench, run: Run) -> Page:
    from plaidwork.gui.monitor.settings_page import SettingsPage

    return SettingsPage(workbench, run)


def study_pages(workbench: Workbench, study_id: str) -> list[PageInfo]:
    """The page of a search."""

    def make() -> Page:
        from plaidwork.gui.studies.study_page import StudyPage

        return StudyPage(workbench, study_id)

    return [PageInfo(f"study/{study_id}", "Search", "search", make)]


def notes_pages(workbench: Workbench) -> list[PageInfo]:
    """The page of the notes on the session."""

    def make() -> Page:
        from plaidwork.gui.notes.page import NotesPage

        return NotesPage(workbench)

    return [PageInfo("notes", "Notes", "note", make)]


def data_pages(workbench: Workbench, name: str) -> list[PageInfo]:
    """The page of a dataset, and one of all that have samples in common with it."""

    def make() -> Page:
        from plaidwork.gui.data.data_page import DataPage

        return DataPage(workbench, name)

    def together() -> Page:
        from plaidwork.gui.data.overview_page import OverviewPage

        return OverviewPage(workbench, name)

    pages = [PageInfo(f"data/{name}", "Data", "table", make)]
    datasets = workbench.session.datasets
    if name in datasets and len(views_with(datasets[name], datasets.values())) > 1:
        pages.append(PageInfo(f"data/{name}/together", "Views together", "layers", together))
    return pages
