"""The pictures of a regression by id; what draws them is imported when it is asked for."""

from __future__ import annotations

from importlib import import_module

from plaidwork.core.api import ResultStore
from plaidwork.core.api_pictures import Picture, PictureFactory, ViewChoices


def _factory(name: str, title: str, function: str, module: str = "pictures") -> PictureFactory:
    def load(results: ResultStore, choices: ViewChoices) -> Picture:
        pictures = import_module(f"plaidwork.plugins.gp_auxiliary.regression.{module}")
        found: Picture = getattr(pictures, function)(results, choices)
        return found

    return PictureFactory(f"gp_regression.{name}", title, load)


FACTORIES = (
    _factory("fit", "Fit along one input", "fit_along"),
    _factory("observed", "Predicted and observed", "observed_against_predicted"),
    _factory("residuals", "Residuals", "residuals"),
    _factory("noise", "Noise along one input", "noise_along"),
    _factory("calibration", "Calibration of intervals", "calibration"),
    _factory("arrows", "Arrows over two inputs", "arrows", "outputs_pictures"),
    _factory("surface", "Surface over two inputs", "surface", "outputs_pictures"),
    _factory("outputs", "Correlations of outputs", "correlations", "outputs_pictures"),
)
