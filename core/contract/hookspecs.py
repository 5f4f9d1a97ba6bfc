"""The hooks a plugin may implement; docs/plugins.md describes each one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pluggy

if TYPE_CHECKING:
    from plaidwork.core.contract.metric import Metric
    from plaidwork.core.contract.model import Model
    from plaidwork.core.contract.views import PictureFactory, ViewFactory
    from plaidwork.core.data.importers import Reader
    from plaidwork.core.data.samples import Sample
    from plaidwork.core.findings.analysis import Analysis

hookspec = pluggy.HookspecMarker("plaidwork")
hookimpl = pluggy.HookimplMarker("plaidwork")


@hookspec
def plaidwork_models() -> list[type[Model[Any, Any]] | str]:  # type: ignore[empty-body]
    """Model classes, or ``"module:Class"`` strings that delay the import until models are listed."""


@hookspec
def plaidwork_readers() -> list[Reader]:  # type: ignore[empty-body]
    """File formats that the import dialog and the command line can read."""


@hookspec
def plaidwork_samples() -> list[Sample]:  # type: ignore[empty-body]
    """Bundled examples: data, a model and settings that open in one click."""


@hookspec
def plaidwork_analyses() -> list[type[Analysis] | str]:  # type: ignore[empty-body]
    """Analysis classes (work beyond the fit), or ``"module:Class"`` strings."""


@hookspec
def plaidwork_views() -> list[PictureFactory | ViewFactory]:  # type: ignore[empty-body]
    """Pictures of the plugin's own for ``View(kind="picture", options={"factory": id})``, widgets for the kind "custom"."""


@hookspec
def plaidwork_metrics() -> list[Metric]:  # type: ignore[empty-body]
    """Numbers by which the fits of a study can be ranked, for models of any plugin."""
