"""What the classifiers of the family, ordered or not, say of samples: fitted ones, new ones, chosen inputs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, TypeVar

import numpy as np

from plaidwork.core.api import Kept, Model, ModelData, Result, Results
from plaidwork.plugins.gp_auxiliary.frame import Frame, make_frame
from plaidwork.plugins.gp_auxiliary.state import LawSettings

FieldsT = TypeVar("FieldsT", bound=Mapping[str, Any])
SettingsT = TypeVar("SettingsT", bound=LawSettings)


class Predicting(Model[FieldsT, SettingsT]):
    """Results and predictions from the kept auxiliary variables (page, section 2.1)."""

    semi: ClassVar[bool] = False
    """Whether unlabelled samples take part in the fit."""

    def frame(self, data: ModelData, params: SettingsT) -> Frame:
        """The samples as the settings want them."""
        return make_frame(data, params, self.semi)

    def null_width(self, params: SettingsT) -> float:
        """Half width of the null category."""
        return 0.0

    def filled(self, frame: Frame, params: SettingsT) -> SettingsT:
        """The settings with those that come from the samples."""
        return params

    def summarise(self, kept: Kept, data: ModelData, params: SettingsT) -> Results:
        from plaidwork.plugins.gp_auxiliary.results import summarise_draws

        frame = self.frame(data, params)
        return summarise_draws(kept, frame, data, self.filled(frame, params), self.null_width(params))

    def predict(self, kept: Kept, data: ModelData, new_data: ModelData, params: SettingsT) -> Results:
        from plaidwork.plugins.gp_auxiliary.results import predict_new

        frame = self.frame(data, params)
        return predict_new(kept, frame, new_data, self.filled(frame, params), self.null_width(params))

    def response(
        self,
        kept: Kept,
        data: ModelData,
        params: SettingsT,
        name: str,
        rows: np.ndarray,
        wanted: frozenset[str],
    ) -> Mapping[str, Result]:
        from plaidwork.plugins.gp_auxiliary.results import response_at

        frame = self.frame(data, params)
        return response_at(kept, frame, rows, self.filled(frame, params), self.null_width(params), wanted)
