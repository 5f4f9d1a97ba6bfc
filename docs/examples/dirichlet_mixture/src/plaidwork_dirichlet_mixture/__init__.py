"""Dirichlet-process Gaussian mixture for Plaidwork: a guest, made with the public interface alone."""

from __future__ import annotations

import json
from pathlib import Path

from plaidwork.core.api import Sample, hookimpl

__version__ = "0.1.0"


@hookimpl
def plaidwork_models() -> list[str]:
    return ["plaidwork_dirichlet_mixture.model:DirichletMixture"]


@hookimpl
def plaidwork_samples() -> list[Sample]:
    folders = sorted(path.parent for path in (Path(__file__).parent / "samples").glob("*/example.json"))
    return [
        Sample(folder=folder, **json.loads((folder / "example.json").read_text(encoding="utf-8")))
        for folder in folders
    ]
