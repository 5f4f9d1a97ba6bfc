"""What the classifiers of the family, ordered or not, say of samples: fitted ones, new ones, chosen inputs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, TypeVar

import numpy as np

from plaidwork.core.api import Kept, Model, ModelData, Result, Results
from plaidwork.plugins.gp_auxiliary.classes.choosing import CHOSEN_BY, choice_of, with_sum
from plaidwork.plugins.gp_auxiliary.shared.frame import Frame, make_frame
from plaidwork.plugins.gp_auxiliary.shared.state import ClassesFixed, OrderedFixed
from plaidwork.plugins.gp_auxiliary.shared.typed_settings import SettingsT

FieldsT = TypeVar("FieldsT", bound=Mapping[str, Any])


def as_chosen(fixed: ClassesFixed | OrderedFixed, params: SettingsT) -> SettingsT:
    """The settings with the sum of terms that a chain was begun with, where that was chosen from the data."""
    return with_sum(params, fixed["expression"]) if params["covariance"] == "chosen" else params


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

    def filled(self, data: ModelData, params: SettingsT) -> SettingsT:
        """The settings with those that come from the data."""
        if params["covariance"] != "chosen":
            return params
        return with_sum(params, data.prepared(choice_of, params, CHOSEN_BY).expression)

    def summarise(self, kept: Kept, data: ModelData, params: SettingsT) -> Results:
        from plaidwork.plugins.gp_auxiliary.classes.results import summarise_draws

        frame = self.frame(data, params)
        results = summarise_draws(kept, frame, data, self.filled(data, params), self.null_width(params))
        if params["covariance"] == "chosen" and "covariance_note" in results:
            chosen = data.prepared(choice_of, params, CHOSEN_BY).text()
            results["covariance_note"] = f"{results['covariance_note']} {chosen}"
        return results

    def predict(self, kept: Kept, data: ModelData, new_data: ModelData, params: SettingsT) -> Results:
        from plaidwork.plugins.gp_auxiliary.classes.results import predict_new

        frame = self.frame(data, params)
        return predict_new(kept, frame, new_data, self.filled(data, params), self.null_width(params))

    def response(
        self,
        kept: Kept,
        data: ModelData,
        params: SettingsT,
        name: str,
        rows: np.ndarray,
        wanted: frozenset[str],
    ) -> Mapping[str, Result]:
        from plaidwork.plugins.gp_auxiliary.classes.results import response_at

        frame = self.frame(data, params)
        return response_at(kept, frame, rows, self.filled(data, params), self.null_width(params), wanted)
