"""Annotation of LC-MS peaks by formulas, for Plaidwork: a guest, made with the public interface alone."""

from __future__ import annotations

import json
from pathlib import Path

from plaidwork.core.api import Sample, hookimpl
from plaidwork.core.api_pictures import PictureFactory
from plaidwork_lcms_annotation import pictures

__version__ = "0.1.0"


@hookimpl
def plaidwork_models() -> list[str]:
    return ["plaidwork_lcms_annotation.model:LcmsAnnotation"]


@hookimpl
def plaidwork_samples() -> list[Sample]:
    folders = sorted(path.parent for path in (Path(__file__).parent / "samples").glob("*/example.json"))
    return [
        Sample(folder=folder, **json.loads((folder / "example.json").read_text(encoding="utf-8")))
        for folder in folders
    ]


@hookimpl
def plaidwork_views() -> list[PictureFactory]:
    return [
        PictureFactory("lcms_annotation.map", "Map of the peaks", pictures.load_map),
        PictureFactory("lcms_annotation.spectrum", "Compound against theory", pictures.load_spectrum),
        PictureFactory("lcms_annotation.errors", "Errors against what is assumed", pictures.load_errors),
    ]
