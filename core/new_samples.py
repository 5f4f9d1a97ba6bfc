"""What a fit says of samples that it has not seen: an analysis that every model with ``predict`` has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, ClassVar

import numpy as np

from plaidwork.core.analysis import Analysis, AnalysisData, AnalysisSpec, Report
from plaidwork.core.dataset import Dataset
from plaidwork.core.errors import ModelError
from plaidwork.core.model import Model, ModelData, Params, Result, Results, Table
from plaidwork.core.spec import Input, ModelSpec, View

SUFFIX = ".new_samples"
NEW = "new_"
"""Before the names of the inputs, and of their dims: new samples are not joined with the fitted ones."""


class NewSamples(Analysis):
    """``Model.predict`` by point and click, from the command line, and kept with the run."""

    model: ClassVar[type[Model]]

    def run(self, results: Mapping[str, Any], data: AnalysisData, params: Params, report: Report) -> Results:
        if data.kept is None or not data.kept.n_draws:
            raise ModelError("The fit has kept nothing yet.", "Let it keep some draws first.")
        inputs = [item.name for item in self.model.spec.inputs]
        fitted = ModelData({name: data[name] for name in inputs if name in data})
        new = ModelData({name: data[NEW + name] for name in inputs if NEW + name in data})
        report(0.1)
        found = dict(self.model().predict(data.kept, fitted, new, data.settings))
        first = self.model.spec.inputs[0]
        block = new[first.name][0] if first.many else new[first.name]
        if block.names[0]:
            found.setdefault(first.dims[0], Result(np.array(block.names[0], dtype=str), (first.dims[0],)))
        return found

    def views(self, found: Results) -> tuple[View, ...]:
        """A table or a heat map for each result, under the texts ``headline`` and ``caption`` if there are such."""
        headline, caption = (
            name if isinstance(found.get(name), str) else "" for name in ("headline", "caption")
        )
        views = []
        for name, result in found.items():
            kind = _kind(result)
            if kind:
                title = (isinstance(result, (Result, Table)) and result.label) or name.replace("_", " ")
                title = title[:1].upper() + title[1:]
                views.append(View(kind, title, {"values": name}, headline=headline, caption=caption))
        return tuple(views)


def names_known(spec: ModelSpec, fitted: Mapping[str, Sequence[Dataset]]) -> dict[str, list[Sequence[str]]]:
    """Names of the items of every dim of a fit, and under ``new_`` those of features: new samples have the same."""
    known: dict[str, list[Sequence[str]]] = {}
    for item in spec.inputs:
        for dataset in fitted.get(item.name, ()):
            for dim, names in zip(item.dims, (dataset.row_names, dataset.column_names)):
                known.setdefault(dim, []).append(names)
                if dim != item.samples:
                    known.setdefault(NEW + dim, []).append(names)
    return known


def _kind(result: Any) -> str:
    """The view that shows a result; empty for texts and names."""
    if isinstance(result, Table):
        return "table"
    if not isinstance(result, Result) or result.values.dtype.kind not in "fiub":
        return ""
    return {1: "table", 2: "heatmap"}.get(result.values.ndim, "")


@cache
def new_samples(model: type[Model]) -> type[NewSamples]:
    """The analysis of a model that offers ``predict``."""
    return type("NewSamples", (NewSamples,), {"model": model, "spec": _spec(model.spec)})


def _spec(spec: ModelSpec) -> AnalysisSpec:
    return AnalysisSpec(
        id=spec.id + SUFFIX,
        version=spec.version,
        title="New samples",
        summary="What the fit, as it is, says of samples that it has not seen.",
        needs={},
        inputs=tuple(_input(item) for item in spec.inputs if not item.fit_only),
        models=(spec.id,),
        help="Import the new samples as data first; features are found by name. The fit is not changed by them.",
    )


def _input(item: Input) -> Input:
    """The same for new samples; what is not a matrix may be left out, as labels that are to be predicted."""
    return replace(
        item,
        name=NEW + item.name,
        label=f"{item.title}, new samples",
        dims=tuple(NEW + dim for dim in item.dims),
        samples=item.samples and NEW + item.samples,
        required=item.required and item.kind == "matrix",
        holdout="",
    )
