"""A small session with something of everything that a file tells: notes, names, an analysis with its file, searches, labels, images."""

import lzma
from dataclasses import replace
from pathlib import Path

import numpy as np
import scipy.sparse

from plaidwork.core.contract.model import Result, Table
from plaidwork.core.contract.spec import View
from plaidwork.core.data.dataset import Dataset
from plaidwork.core.findings.analysis import AnalysisRecord
from plaidwork.core.findings.annotations import AnnotationRef
from plaidwork.core.findings.attached import AttachedFile
from plaidwork.core.inference.run import LogLine
from plaidwork.core.session.session import Session
from plaidwork.core.session.store.session_file import load

FIXTURES = Path(__file__).parent / "fixtures"


def fixture(name, folder):
    """A session of an earlier version, unpacked. Returns its path."""
    (packed,) = FIXTURES.glob(f"version_*/{name}.plaidwork.xz")
    path = folder / f"{name}.plaidwork"
    path.write_bytes(lzma.decompress(packed.read_bytes()))
    return path


def told_session(folder, name="infinite_plaid"):
    """The session of an earlier version with all the rest put in. Returns its path."""
    session = load(fixture(name, folder), Session, probed=True)
    (run,) = session.runs.values()
    first = session.datasets[run.inputs["X"][0]]
    rows, columns = first.row_names, first.column_names
    session.notes, run.notes = "# Notes\n\n*of* the [session](https://example.org)", "Of the run"
    dim = next(iter(run.spec.dims))
    run.item_names, run.item_notes = {dim: {"0": "First"}}, {dim: {"0": "A note"}}
    run.log.append(LogLine("2026-01-01T00:00:00+00:00", "info", "Said"))
    run.view_settings |= {
        "selection": {"layer": [0], "named": {"some": ["row", [0, 1]]}},
        "choices": {"Blocks": {"Show": "fit"}},
    }
    run.analyses.append(_record(run, rows, columns))
    words = np.array(["one", "two", None] * len(rows), object)[: len(rows)]
    about = {"word": words, "number": np.arange(len(rows)) * 1.5, "yes": np.arange(len(rows)) % 2 == 0}
    session.add_dataset(
        Dataset("few", scipy.sparse.csr_matrix(np.eye(len(rows), 5)), rows, tuple("abcde"), row_table=about)
    )
    codes = np.arange(len(rows)) % 3 - 1
    session.add_dataset(Dataset("labels", codes, rows, kind="categorical", categories=("x", "y")))
    pixels = tuple(f"p{k}" for k in range(6))
    session.add_dataset(Dataset("images", np.ones((4, 6)), tuple("klmn"), pixels, image_shape=(2, 3)))
    wide = {f"column {k}": np.full(6, "w") if k % 2 else np.arange(6.0) for k in range(501)}
    session.add_dataset(Dataset("wide", np.ones((6, 2)), tuple("abcdef"), ("u", "v"), row_table=wide))
    session.views |= {
        "window": {"chosen": ["run", run.id], "tabs": {f"run {run.id}": {"front": "", "order": []}}},
        "data": {first.name: {}},
    }
    return session.save(folder / "told.plaidwork")


def _record(run, rows, columns):
    """An analysis with views of several kinds."""
    n, m = len(rows), len(columns)
    results = {
        "headline": "What was found",
        "profile": Result(np.arange(2.0 * m).reshape(2, m), ("kind", "column"), "unit", "Profile", "doc"),
        "profile_interval": Result(np.ones((2, m, 2)), ("kind", "column", "end")),
        "kind": Result(np.array(["one", "two"], object), ("kind",)),
        "places": Result(np.ones((n, 2)) * np.arange(n)[:, None], ("row", "axis")),
        "class_of": Result(np.arange(n) % 2, ("row",)),
        "sure": Result(np.full((n, 2), 0.5), ("row", "kind")),
        "ends": Result(np.array([[0, 1], [1, 2]]), ("link", "end")),
        "weight": Result(np.array([1.0, -0.5]), ("link",)),
        "table": Table({"Row": np.array(rows, object), "Share": np.linspace(0, 1, n)}, {"Share": "share"}, "Table", "doc", {"Share": 2}),
    }  # fmt: skip
    views = (
        View("coefficients", "Profile", {"values": "profile", "interval": "profile_interval"}, "headline"),
        View("heatmap", "Matrix", {"values": "profile", "row_names": "kind"}),
        View("scatter", "Places", {"values": "places", "colour": "class_of"}),
        View("curve", "Curves", {"values": "profile", "interval": "profile_interval"}),
        View("confusion", "Confusion", {"labels": "class_of", "probability": "sure"}),
        View("calibration", "Calibration", {"labels": "class_of", "probability": "sure"}),
        View("network", "Network", {"values": "weight", "edges": "ends"}),
        View("table", "Table", {"values": "table"}),
    )
    made = AnalysisRecord(
        "one", "toy.analysis", "1.0", "Toy analysis", {"level": 0.5, "many": (1, 2)}, {}, {"group": AnnotationRef("X", "row", "word")},
        results, views, files={"sets": AttachedFile.of("sets.gmt", b"a\tb\tc\n")}, log=(LogLine("2026-01-01T00:00:00+00:00", "info", "Said"),),
    )  # fmt: skip
    return replace(made, draws=run.n_draws)
