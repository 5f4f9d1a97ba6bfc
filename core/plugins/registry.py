"""The plugins of this process and what they bring: models, analyses, views, readers, examples, metrics."""

from __future__ import annotations

import difflib
import threading
from typing import TYPE_CHECKING, Any

from plaidwork.core.contract.metric import Metric
from plaidwork.core.contract.model import Model
from plaidwork.core.contract.plugin_fault import PluginFault
from plaidwork.core.contract.plugin_info import PluginInfo, blamed, owner_of, set_owner
from plaidwork.core.contract.spec import ModelSpec
from plaidwork.core.contract.views import PictureFactory, ViewFactory
from plaidwork.core.data.importers import Reader
from plaidwork.core.data.samples import Sample, bundled_samples
from plaidwork.core.errors import SessionError
from plaidwork.core.findings.analysis import Analysis, AnalysisSpec
from plaidwork.core.findings.new_samples import SUFFIX, new_samples
from plaidwork.core.plugins.loader import Loader

if TYPE_CHECKING:
    from plaidwork.core.inference.run import Run

__all__ = ["PluginFault", "PluginInfo", "Registry", "registry"]


class Registry(Loader):
    """What the plugins bring, looked up by id; ``Loader`` tells when they are loaded and how they are turned on and off."""

    @property
    def faults(self) -> tuple[PluginFault, ...]:
        """Everything that plugins did wrong in this process, by plugin."""
        return tuple(fault for info in self.plugins for fault in info.faults)

    def plugin_of(self, model: str | Model | type[Model]) -> PluginInfo | None:
        """The plugin that brings a model (its id, class or an instance); None when none does."""
        if isinstance(model, str):
            return next((info for info in self.plugins if model in info.models), None)
        info = owner_of(model)
        return info if info in self.plugins else None

    @property
    def readers(self) -> tuple[Reader, ...]:
        """Readers that plugins bring (the built-in formats apart)."""
        return tuple(self.ready()._catalogue["readers"].values())

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """Metrics that plugins bring for ranking the fits of a study."""
        return tuple(self.ready()._catalogue["metrics"].values())

    @property
    def samples(self) -> tuple[Sample, ...]:
        """Bundled examples and those of plugins."""
        return (*bundled_samples(), *self.ready()._catalogue["samples"].values())

    def specs(self) -> tuple[ModelSpec, ...]:
        """All models, by title."""
        models = list(self.ready()._catalogue["models"].values())
        return tuple(sorted((model.spec for model in models), key=lambda spec: spec.title))

    def model(self, model_id: str) -> Model:
        """An instance of the model.

        Raises ``SessionError`` when it is not installed, ``PluginError`` when it cannot be made.
        """
        found = self._lookup(self._catalogue["models"], model_id)
        if found is None:
            raise self._missing("model", model_id, self._catalogue["models"])
        with blamed(found, "__init__"):
            return found()

    def _lookup(self, known: dict[str, Any], id: str) -> Any:
        found = self.ready() and known.get(id)
        if found is None and threading.current_thread() is not threading.main_thread():
            self.load()  # a worker may wait for a plugin that is still being loaded
            found = known.get(id)
        return found

    def _missing(self, what: str, id: str, known: dict[str, Any]) -> SessionError:
        late = [info.name for info in self.plugins if info.state == "loading"]
        near = difflib.get_close_matches(id, known, n=1)
        if late:
            hint = f"Still being loaded: {', '.join(late)}."
        elif near:
            hint = f"Did you mean “{near[0]}”?"
        else:
            hint = f"Installed: {', '.join(sorted(known)) or 'none'}."
        left = [info.name for info in self.plugins if info.state in ("failed", "incompatible", "disabled")]
        if left:
            hint += f" Plugins that are not loaded: {', '.join(left)}."
        return SessionError(f"The {what} “{id}” is not installed.", hint)

    def has(self, model_id: str) -> bool:
        return model_id in self.ready()._catalogue["models"]

    def settings_of(self, run: Run) -> dict[str, Any]:
        """Settings of a run, complete also for settings that its model has got since; as stored without the model."""
        if not self.has(run.spec.id):
            return dict(run.params)
        return self.model(run.spec.id).spec.stored_params(run.params)

    def analyses_for(self, run: Run) -> tuple[AnalysisSpec, ...]:
        """Analyses that the run has all for, by title."""
        specs = [analysis.spec for analysis in list(self.ready()._catalogue["analyses"].values())]
        model = self._catalogue["models"].get(run.spec.id)
        if model is not None and model.offers("predict") and run.n_draws:
            specs.append(new_samples(model).spec)
        return tuple(sorted((spec for spec in specs if not spec.missing(run)), key=lambda spec: spec.title))

    def analysis(self, analysis_id: str) -> Analysis:
        """An instance of the analysis.

        Raises ``SessionError`` when it is not installed, ``PluginError`` when it cannot be made.
        """
        found = self._lookup(self._catalogue["analyses"], analysis_id)
        if found is None and analysis_id.endswith(SUFFIX):
            model = self._lookup(self._catalogue["models"], analysis_id.removesuffix(SUFFIX))
            if model is not None and model.offers("predict"):
                found = new_samples(model)
                owner = self.plugin_of(model)
                if owner is not None:
                    set_owner(found, owner)
        if found is None:
            raise self._missing("analysis", analysis_id, self._catalogue["analyses"])
        with blamed(found, "__init__"):
            return found()

    def view_factory(self, factory_id: str) -> ViewFactory | None:
        """The custom view of that id; None when no plugin brings it."""
        found = self.ready()._catalogue["views"].get(factory_id)
        return found if isinstance(found, ViewFactory) else None

    def picture_factory(self, factory_id: str) -> PictureFactory | None:
        """The picture of that id; None when no plugin brings it."""
        found = self.ready()._catalogue["views"].get(factory_id)
        return found if isinstance(found, PictureFactory) else None


_shared: Registry | None = None


def registry() -> Registry:
    """The registry of this process, with every plugin that is installed and not turned off."""
    global _shared
    if _shared is None:
        _shared = Registry()
    return _shared
