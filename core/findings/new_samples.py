"""What a fit says of samples that it has not seen: an analysis that every model with ``predict`` has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, ClassVar

import numpy as np

from plaidwork.core.contract.model import Model, Result, Results, Table
from plaidwork.core.contract.model_data import ModelData, Params
from plaidwork.core.contract.spec import Input, ModelSpec, View
from plaidwork.core.data.dataset import Dataset
from plaidwork.core.draws.solution_texts import solutions_text
from plaidwork.core.errors import ModelError
from plaidwork.core.findings.analysis import Analysis, AnalysisData, AnalysisSpec, Report
from plaidwork.core.findings.new_features import Match, match_features, matches_text, table_of
from plaidwork.core.findings.solutions import weighted

SUFFIX = ".new_samples"
NEW = "new_"
"""Before the names of the inputs, and of their dims: new samples are not joined with the fitted ones."""
SEVERAL = "One matrix or several; columns tell for which of the fit each is taken, and new samples lack those that are not given."
"""Of an input of several matrices: the fit may need more of them than a new sample has."""
FEATURES = "features_found"
"""Name of the table of what was matched."""


class NewSamples(Analysis):
    """``Model.predict`` by point and click, from the command line, and kept with the run."""

    model: ClassVar[type[Model]]

    def run(self, results: Mapping[str, Any], data: AnalysisData, params: Params, report: Report) -> Results:
        if data.kept is None or not data.kept.n_draws:
            raise ModelError("The fit has kept nothing yet.", "Let it keep some draws first.")
        inputs = [item.name for item in self.model.spec.inputs]
        fitted = ModelData({name: data[name] for name in inputs if name in data})
        given = {name: data[NEW + name] for name in inputs if NEW + name in data}
        new, matches = self._matched(fitted, given)
        report(0.1)
        kept = weighted(data.kept, data.solutions)
        found = dict(self.model().predict(kept, fitted, new, data.settings))
        if kept is not data.kept:
            caption = found.get("caption", "")
            found["caption"] = f"{caption} Averaged over {solutions_text(data.solutions)}.".lstrip()
        first = self.model.spec.inputs[0]
        block = new[first.name][0] if first.many else new[first.name]
        found = _named(found, first.dims[0], block.names[0], data)
        if matches:
            found[FEATURES] = table_of(matches)
            found.setdefault("headline", matches_text(matches, block.shape[0]))
        return found

    def _matched(self, fitted: ModelData, given: Mapping[str, Any]) -> tuple[ModelData, list[Match]]:
        """The new matrices as those of the fit: under their names, with their features."""
        made, matches = dict(given), []
        for item in self.model.spec.inputs:
            if item.kind == "matrix" and item.name in given and item.name in fitted:
                old, new = fitted[item.name], given[item.name]
                blocks, messages = match_features(
                    item, old if item.many else (old,), new if item.many else (new,)
                )
                made[item.name] = blocks if item.many else blocks[0]
                matches += messages
        return ModelData(made), matches

    def views(self, found: Results) -> tuple[View, ...]:
        """A table or a heat map for each result, under the texts ``headline`` and ``caption`` if there are such."""
        headline, caption = (
            name if isinstance(found.get(name), str) else "" for name in ("headline", "caption")
        )
        views = []
        for name, result in found.items():
            kind = _kind(result)
            if kind:
                views.append(
                    View(kind, _title(name, result), {"values": name}, headline=headline, caption=caption)
                )
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


def _named(found: Results, dim: str, samples: tuple[str, ...], data: AnalysisData) -> Results:
    """The results with the names of their axes: the new samples', and those of the fit.

    The axis of the new samples has a name of its own, so that it is never taken for that of the fitted ones.
    """
    own = dim if dim.startswith(NEW) else NEW + dim
    made: Results = {}
    for name, result in found.items():
        if isinstance(result, Result) and dim in result.dims:
            result = replace(result, dims=tuple(own if one == dim else one for one in result.dims))
        made[own if name == dim else name] = result
    if samples:
        names = np.array(samples, dtype=str)
        made.setdefault(own, Result(names, (own,)))
        for name, result in made.items():
            if isinstance(result, Result) and name != own and result.dims == (own,) and _is_text(result):
                columns = {own.replace("_", " ").capitalize(): names, _title(name, result): result.values}
                made[name] = Table(columns, label=result.label, doc=result.doc)
    for result in list(made.values()):
        for one, size in zip(result.dims, result.values.shape) if isinstance(result, Result) else ():
            if one not in made and one != own and len(data.names.get(one, ())) == size:
                made[one] = Result(np.array(data.names[one], dtype=str), (one,))
    return made


def _is_text(result: Result) -> bool:
    return result.values.dtype.kind in "OUT"


def _title(name: str, result: Any) -> str:
    title = (isinstance(result, (Result, Table)) and result.label) or name.replace("_", " ")
    return title[:1].upper() + title[1:]


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
        help=(
            "Features are found by name, in a file or data set of any name: the last table lists what was matched, "
            "what the new samples lack, and what of them is not used. The fit is not changed by them."
        ),
    )


def _input(item: Input) -> Input:
    """The same for new samples; what is not a matrix may be left out, as labels that are to be predicted."""
    return replace(
        item,
        name=NEW + item.name,
        label=f"{item.title}, new samples",
        doc=SEVERAL if item.many and item.kind == "matrix" else item.doc,
        dims=tuple(NEW + dim for dim in item.dims),
        samples=item.samples and NEW + item.samples,
        required=item.required and item.kind == "matrix",
        holdout="",
    )
