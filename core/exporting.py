"""What leaves a session: results of a run as plain files, and the run as a job or a script that repeats it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from plaidwork.core.bundle import BundleWriter, file_name
from plaidwork.core.dataset import Dataset
from plaidwork.core.errors import SessionError
from plaidwork.core.job import FileInput, Job, job_text
from plaidwork.core.run import Run
from plaidwork.core.session import Session

READ_BACK: dict[str, Any] = {
    "encoding": "utf-8", "delimiter": ",", "decimal": ".", "header": True, "names": 0, "labels": [], "missing": [""],
}  # fmt: skip
"""How the files written here are read: nothing is left to detection."""


def export_session(session: Session, folder: Path) -> list[Path]:
    """Data and all runs as plain files in ``folder`` (made when it is not there); the files written."""
    writer = BundleWriter(folder)
    for dataset in session.datasets.values():
        writer.dataset(dataset)
    for run in session.runs.values():
        writer.run(session, run, "runs", file_name(run.title))
    return writer.files


def export_run(run: Run, folder: Path, session: Session) -> list[Path]:
    """Settings, traces, draws and results of a run as plain files in ``folder``; the files written."""
    writer = BundleWriter(folder)
    writer.run(session, run)
    return writer.files


def job_toml(run: Run, session: Session, path: Path) -> Path:
    """Write a job file that gives the same draws, with its data in a folder beside it."""
    job = job_of(run, session, path.with_name(f"{path.stem}-data"))
    path.write_text(job_text(job, path.parent), encoding="utf-8")
    return path


def job_of(run: Run, session: Session, folder: Path) -> Job:
    """The run as a job; its data, as they were fitted, are written into ``folder``."""
    writer = BundleWriter(folder)
    inputs = {
        name: tuple(_input(writer, run, session, title) for title in titles)
        for name, titles in run.inputs.items()
    }
    schedule = {name: getattr(run.schedule, name) for name in ("chains", "warmup", "draws", "thin")}
    if run.spec.algorithm != "mcmc":
        schedule = {
            "chains": run.schedule.chains,
            "max_sweeps": run.schedule.max_sweeps,
            "tolerance": run.schedule.tolerance,
        }
    return Job(
        model=run.spec.id,
        inputs=inputs,
        settings=dict(run.params),
        schedule=schedule,
        seed=run.seed,
        holdout=run.holdout,
        title=run.title,
    )


def _input(writer: BundleWriter, run: Run, session: Session, title: str) -> FileInput:
    data = session.datasets.get(title)
    if data is None:
        raise SessionError(f"The data “{title}” of {run.title} are not in the session any more.")
    if data.is_sparse:
        raise SessionError(
            f"“{title}” is sparse and cannot be written as a table.", "Save the session instead."
        )
    writer.matrix(data)
    return FileInput(writer.files[-1], _options(data), (), _fields(data))


def _options(data: Dataset) -> dict[str, Any]:
    if len(data.shape) == 2:
        return {**READ_BACK, "kind": data.kind}
    return {**READ_BACK, "column": "label" if data.kind == "categorical" else "value", "kind": data.kind}


def _fields(data: Dataset) -> dict[str, Any]:
    fields = {name: getattr(data, name) for name in ("name", "unit", "row_label", "column_label")}
    if data.kind == "categorical":
        fields["categories"] = list(data.categories)
    return {name: value for name, value in fields.items() if value}


def python_script(run: Run, session: Session, path: Path) -> Path:
    """Write a Python script that gives the same draws, with its data in a folder beside it."""
    job = job_of(run, session, path.with_name(f"{path.stem}-data"))
    lines = [
        f'"""{run.spec.title}: repeats the run “{_quoted(run.title)}”."""',
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
        lines.append(f"        {name!r}: [")
        for item in files:
            file = item.file.relative_to(path.parent).as_posix()
            lines.append(
                f"            FileInput(HERE / {file!r}, {item.options!r}, (), {dict(item.fields)!r}).load(),"
            )
        lines.append("        ],")
    lines += [
        "    }",
        f"    settings = {dict(job.settings)!r}",
        f"    run = fit({job.model!r}, inputs, settings,",
    ]
    options = {"seed": job.seed, "holdout": job.holdout, **job.schedule}
    lines.append("        " + ", ".join(f"{name}={value!r}" for name, value in options.items()) + ")")
    lines += [
        f"    run.save(HERE / {f'{path.stem}.plaidwork'!r})",
        "",
        "",
        'if __name__ == "__main__":',
        "    main()",
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def _quoted(text: str) -> str:
    return text.replace("\\", "/").replace('"', "'")
