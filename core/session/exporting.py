"""What leaves a session: results of a run as plain files, and the run as a job or a script that repeats it."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plaidwork.core.contract.spec import Input
from plaidwork.core.data.dataset import Dataset
from plaidwork.core.draws.counting import agree, counted, plural
from plaidwork.core.errors import SessionError
from plaidwork.core.inference.run import Run
from plaidwork.core.job import FileInput, Job, job_text
from plaidwork.core.quoting import guarded_text, line, literal
from plaidwork.core.refusals import why
from plaidwork.core.session.bundle import BundleWriter, file_name
from plaidwork.core.session.session import Session

if TYPE_CHECKING:
    from plaidwork.core.plugins.registry import Registry

READ_BACK: dict[str, Any] = {
    "encoding": "utf-8", "delimiter": ",", "decimal": ".", "header": True, "names": 0, "labels": [], "missing": [""], "samples_in": "",
}  # fmt: skip
"""How the files written here are read: nothing is left to detection."""


def export_session(
    session: Session, folder: Path, guard: bool | None = None, tell: Callable[[str], object] | None = None
) -> list[Path]:
    """Data and all runs as plain files in ``folder`` (made when it is not there); the files written.

    ``guard`` is that of :class:`plaidwork.core.quoting.CsvWriter`; ``tell`` is given what was done to cells for it.
    """
    writer = BundleWriter(folder, guard)
    for dataset in session.datasets.values():
        writer.dataset(dataset)
    for run in session.runs.values():
        folder_of = ("runs", file_name(run.title))
        writer.run(session, run, *folder_of)
        writer.imputed(run, session.datasets, None, *folder_of)
    if writer.guarded and tell is not None:
        tell(guarded_text(writer.guarded))
    return writer.files


def export_run(run: Run, folder: Path, session: Session, plugins: Registry | None = None) -> list[Path]:
    """A run as plain files in ``folder`` (``README.txt`` says what is what); the files written.

    Everything is written beside ``folder`` first, so that an error leaves nothing half-written there.
    Raises ``SessionError``.
    """
    from plaidwork.core.session.store.exports import write_h5ad, write_netcdf

    def write(folder: Path) -> None:
        writer = BundleWriter(folder)
        writer.run(session, run)
        writer.imputed(run, session.datasets, plugins)
        if any(record.trace.count for record in run.chains):
            write_netcdf(run, session, folder / "draws.nc")
        for title in dict.fromkeys(title for titles in run.inputs.values() for title in titles):
            if title in session.datasets:
                (folder / "data").mkdir(exist_ok=True)
                write_h5ad(session.datasets[title], folder / "data" / f"{file_name(title)}.h5ad")
        (folder / "README.txt").write_text(_readme(run, folder, writer.guarded), encoding="utf-8")

    return _as_a_whole(folder, write)


def export_annotated(run: Run, path: Path | str, session: Session | None = None) -> Path:
    """Write the matrices of a run with what was found as ``.h5ad`` (one matrix) or ``.h5mu`` (any number); the path.

    ``session`` is that of the run unless given. Raises ``SessionError`` for another suffix, several matrices as ``.h5ad``, a run
    without results and what cannot be written, ``DataError`` when the data are gone or have changed since the fit.
    """
    from plaidwork.core.session.annotated import SUFFIXES, annotated, suffixes_of
    from plaidwork.core.session.store.annotated import write_anndata, write_mudata

    path, session = Path(path), session or run.session
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise SessionError(f"Annotated data have the suffix .h5ad or .h5mu. Found “{path.name}”.")
    if session is None:
        raise SessionError(f"{run.title} belongs to no session, which would have its data.")
    found = annotated(run, session.datasets)
    if suffix not in suffixes_of(run):
        raise SessionError(
            f"{run.title} was fitted to {counted(len(found.parts), 'matrix')}, and .h5ad holds one.",
            f"Write “{path.stem}.h5mu”, which holds any number.",
        )
    try:
        (write_anndata if suffix == ".h5ad" else write_mudata)(found, path)
    except (OSError, RuntimeError) as error:
        raise SessionError(f"Could not write “{path}”: {why(error)}.", "Write to another place.") from error
    return path


def _as_a_whole(folder: Path, write: Callable[[Path], None]) -> list[Path]:
    """Let ``write`` fill a folder beside ``folder``, then move its files in."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    except OSError as error:
        raise SessionError(
            f"Could not export to “{folder}”: {why(error)}.", "Choose another folder."
        ) from error
    try:
        write(temporary)
        written = sorted(path.relative_to(temporary) for path in temporary.rglob("*") if path.is_file())
        for name in written:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            os.replace(temporary / name, folder / name)
    except (OSError, RuntimeError) as error:
        raise SessionError(
            f"Could not export to “{folder}”: {why(error)}.", "Export to another folder."
        ) from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return [folder / name for name in written]


_WHAT = {
    "run.json": "settings, seed, versions and the declaration of the model",
    "diagnostics.csv": "convergence of every judged quantity, worst first",
    "log.txt": "what happened during the fit",
    "notes.md": "your notes (Markdown)",
    "traces.csv": "the values of every sweep, warm-up included, chain by chain",
    "draws.csv": "kept draws of single numbers",
    "draws.nc": "all kept draws and traces as netCDF: arviz.from_netcdf, xarray.open_datatree",
    "draws": "kept draws of each array (numpy.load); ragged ones have one array per draw",
    "imputed": "what the model expects in missing cells, with its standard deviation (up to 5 million cells)",
    "results": "one CSV per result, item names as heads; texts as Markdown",
    "labels": "what is shown in place of the names of the data",
    "analyses": "work beyond the fit: what was asked, results as CSV, the files that were read",
    "data": "the data as they are in the session now: anndata.read_h5ad",
}


def _readme(run: Run, folder: Path, guarded: int) -> str:
    verdict = run.diagnosis().verdict if run.n_draws else None
    kept = f"{counted(run.n_draws, 'draw')}" if run.spec.algorithm == "mcmc" else "The last states"
    lines = [
        line(f"{run.title}: {run.spec.title} {run.spec.version} ({run.spec.id}), {run.status}"),
        f"{kept} of {len(run.chains)} {agree(len(run.chains), run.chain_word, plural(run.chain_word))}, seed {run.seed}, created {run.created}.",
        *([f"{verdict.title}. {verdict.text}"] if verdict is not None else []),
        "Exported by Plaidwork. Text is UTF-8, decimals are written with a point, empty cells are missing.",
        *filter(None, (guarded_text(guarded),)),
        "",
        *(f"{name:<16}{what}" for name, what in _WHAT.items() if (folder / name).exists()),
    ]
    return "\n".join(lines) + "\n"


def job_toml(run: Run, session: Session, path: Path) -> Path:
    """Write a job file that gives the same draws, with its data in a folder beside it."""
    job = job_of(run, session, path.with_name(f"{path.stem}-data"))
    path.write_text(job_text(job, path.parent), encoding="utf-8")
    return path


def job_of(run: Run, session: Session, folder: Path) -> Job:
    """The run as a job; its data, as they were fitted, are written into ``folder``."""
    writer = BundleWriter(folder, guard=False)  # read again, by what made it
    inputs = {
        name: tuple(_input(writer, run, session, name, title) for title in titles)
        for name, titles in run.inputs.items()
    }
    names = ("chains", "warmup", *(("burn_in",) if run.schedule.burn_in else ()), "draws", "thin")
    schedule = {name: getattr(run.schedule, name) for name in names}
    if run.spec.algorithm != "mcmc":
        schedule = {
            "chains": run.schedule.chains,
            "max_sweeps": run.schedule.max_sweeps,
            "tolerance": run.schedule.tolerance,
            "window": run.schedule.window,
            "relaxation": run.schedule.relaxation,
        }
    from plaidwork.core.plugins.registry import registry

    return Job(
        model=run.spec.id,
        inputs=inputs,
        settings=registry().settings_of(run),
        schedule=schedule,
        seed=run.seed,
        holdout=run.holdout,
        title=run.title,
    )


def _input(writer: BundleWriter, run: Run, session: Session, name: str, title: str) -> FileInput:
    data = session.datasets.get(title)
    if data is None:
        raise SessionError(f"The data “{title}” of {run.title} are not in the session any more.")
    if data.is_sparse:
        writer.market(data)
        return FileInput(
            writer.files[-1], {"sparse": True, "kind": data.kind}, (), _fields(data, _declared(run, name))
        )
    writer.matrix(data)
    return FileInput(writer.files[-1], _options(data), (), _fields(data, _declared(run, name)))


def _declared(run: Run, name: str) -> Input:
    """The input as the installed model declares it; a run of an older version may not say which axis it wants."""
    from plaidwork.core.plugins.registry import registry

    known = registry()
    current = known.model(run.spec.id).spec if known.has(run.spec.id) else run.spec
    return next((item for item in current.inputs if item.name == name), run.spec.input(name))


def _options(data: Dataset) -> dict[str, Any]:
    if len(data.shape) == 2:
        return {**READ_BACK, "kind": data.kind}
    return {**READ_BACK, "column": "label" if data.kind == "categorical" else "value", "kind": data.kind}


def _fields(data: Dataset, item: Input) -> dict[str, Any]:
    fields = {
        name: getattr(data, name) for name in ("name", "unit", "row_label", "column_label", "samples_in")
    }
    if item.samples and len(data.shape) == 2:  # as it was fitted, it is not turned again
        fields["samples_in"] = "rows" if item.dims[0] == item.samples else "columns"
    if data.kind == "categorical":
        fields["categories"] = list(data.categories)
    return {name: value for name, value in fields.items() if value}


def python_script(run: Run, session: Session, path: Path) -> Path:
    """Write a Python script that gives the same draws, with its data in a folder beside it."""
    job = job_of(run, session, path.with_name(f"{path.stem}-data"))
    lines = [
        literal(f"{run.spec.title}: repeats the run “{run.title}”."),
        "",
        "from pathlib import Path",
        "",
        "from plaidwork.core import fit",
        "from plaidwork.core.job import FileInput",
        "",
        "HERE = Path(__file__).resolve().parent",
        "",
        "",
        "def main() -> None:",
        "    inputs = {",
    ]
    for name, files in job.inputs.items():
        lines.append(f"        {literal(name)}: [")
        for item in (item for item in files if isinstance(item, FileInput)):
            file = item.file.relative_to(path.parent).as_posix()
            lines.append(
                f"            FileInput(HERE / {literal(file)}, {literal(item.options)}, (), {literal(item.fields)}).load(),"
            )
        lines.append("        ],")
    lines += [
        "    }",
        f"    settings = {literal(job.settings)}",
        f"    run = fit({literal(job.model)}, inputs, settings,",
    ]
    options = {"seed": job.seed, "holdout": job.holdout, **job.schedule}
    lines.append("        " + ", ".join(f"{name}={literal(value)}" for name, value in options.items()) + ")")
    lines += [
        f"    run.save(HERE / {literal(path.stem + '.plaidwork')})",
        "",
        "",
        'if __name__ == "__main__":',
        "    main()",
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path
