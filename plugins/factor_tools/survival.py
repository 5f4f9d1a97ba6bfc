"""The analysis “Factors and survival”: which factors go with the time until something happens."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from plaidwork.core.api import (
    Analysis,
    AnalysisData,
    AnalysisSpec,
    Annotations,
    Choice,
    Hyperparameter,
    ModelError,
    Params,
    Results,
    View,
)
from plaidwork.plugins.factor_tools.common import SIGNIFICANCE, scores_by_item
from plaidwork.plugins.factor_tools.covariates import INTERVAL
from plaidwork.plugins.factor_tools.hazards import hazards_of
from plaidwork.plugins.factor_tools.survival_results import curve_results, curves_of, hazard_results
from plaidwork.plugins.factor_tools.survival_times import watched_of

HELP = (
    "The proportional hazards model of Cox (1972), with tied times as Efron (1977) has them. The **hazard ratio** says by how much the "
    "rate of events is multiplied when the factor rises by one standard deviation: above 1 the event comes sooner in "
    "items with high values. Its interval is that of Wald; p is that of the likelihood ratio, Wald's is in the table too, "
    "and all p are adjusted together by Benjamini and Hochberg (1995). **Concordance** is the share of the pairs of items in "
    "which the one with the higher hazard has its event first, 0.5 when the factor says nothing (Harrell and others 1982; "
    "standard error by the infinitesimal jackknife, interval on the logit scale); it is judged on the items that were fitted. A small p for "
    "“proportional” (Grambsch and Therneau 1994) says that the ratio changes with time. The curves are those of "
    "Kaplan and Meier, with pointwise intervals, in the third of the items with the lowest values of a factor, the middle and the highest. The "
    "direction of a factor is arbitrary. The factor values are taken as they are, their posterior means: draws of them, which have not seen "
    "the times, would pull every ratio towards 1. Censoring has to say nothing about what would have come; items with another "
    "event than the one named count as censored."
)
SETTINGS = (
    Hyperparameter(
        "event_label",
        "text",
        "",
        label="Label of the event",
        doc="The value in the column of events that says it happened. Empty: yes, true, dead, 1 and the like are recognised.",
    ),
    Hyperparameter(
        "model",
        "choice",
        "each",
        label="Factors in the model",
        choices=(
            Choice(value="each", label="Each factor by itself"),
            Choice(value="together", label="All factors together", doc="each beside all others"),
        ),
        doc="Together, a factor counts for what the others do not say; that needs some ten events for each of them.",
    ),
    Hyperparameter(
        "curves",
        "int",
        3,
        minimum=0,
        maximum=8,
        label="Factors with curves",
        doc="Those that go with the times most clearly.",
        advanced=True,
    ),
    SIGNIFICANCE,
    INTERVAL,
)


class FactorsAndSurvival(Analysis):
    """Hazard ratios and concordance of every factor, and curves by thirds."""

    spec = AnalysisSpec(
        id="factor_tools.survival",
        version="0.1.0",
        title="Factors and survival",
        summary="Which factor goes with the time to an event: hazard ratios, concordance, curves; times may be censored.",
        needs={"scores": "scores"},
        annotations=(
            Annotations(
                "time",
                values="number",
                label="Time",
                doc="The time to the event, or to the end of the watching where it did not happen.",
                of="scores",
                likely=("time", "years", "months", "weeks", "days", "os", "pfs"),
            ),
            Annotations(
                "event",
                label="Event",
                doc="Whether the event happened at that time: yes or no, 1 or 0, dead or alive.",
                of="scores",
                likely=("event", "treated", "died", "dead", "relapse", "relapsed", "death", "status"),
            ),
            Annotations(
                "adjust",
                label="Adjust for",
                doc="Further columns in the model of every factor, such as age; text becomes classes.",
                required=False,
                many=True,
                of="scores",
            ),
        ),
        hyperparameters=SETTINGS,
        views=(
            View(
                "effects",
                "Hazard ratios",
                {
                    "values": "log_ratio",
                    "interval": "log_ratio_interval",
                    "reason": "reason",
                    "p": "adjusted",
                },
                headline="headline",
                caption="ratio_caption",
                options={"ratio": True, "layer": True, "p_label": "adjusted p"},
            ),
            View("table", "Survival", {"values": "survival"}, headline="headline", caption="caption"),
            View("table", "By thirds", {"values": "thirds"}, caption="thirds_caption"),
        ),
        help=HELP,
        citation="Cox (1972), Journal of the Royal Statistical Society B 34, 187-220.",
    )

    def run(self, results: Mapping[str, Any], data: AnalysisData, params: Params, report: Any) -> Results:
        time, event = data.annotations["time"], data.annotations["event"]
        scores, dim = scores_by_item(results["scores"], time.dim)
        watched = watched_of(time, event, data.annotations.get("adjust", ()), scores, params["event_label"])
        if not watched.event.any():
            raise ModelError(
                f"No event is known: the column “{event.title}” has none among the items with a known time.",
                "Choose another column, or name the label of the event.",
            )
        factors = data.names_along(dim, scores.shape[1])
        found = hazards_of(watched, params, lambda share: report(0.8 * share))
        order = np.argsort(np.nan_to_num(found.adjusted, nan=2.0), kind="stable")
        curves = [curves_of(watched, int(k), params["interval"]) for k in range(len(factors))]
        report(0.95)
        return {
            **hazard_results(watched, found, factors, dim, params),
            **curve_results(watched, curves, order[: params["curves"]], factors, params),
        }

    def views(self, found: Results) -> tuple[View, ...]:
        """Those declared, and a picture of the curves of each factor that has them."""
        declared = self.spec.views
        names = found["curves_of"].values.tolist()  # type: ignore[union-attr]
        curves = tuple(
            View(
                "curve",
                f"Curves of {name}",
                {"values": f"curve_{i}", "interval": f"curve_interval_{i}", "x": f"curve_time_{i}"},
                headline=f"curve_headline_{i}",
                caption=f"curve_caption_{i}",
                options={"y_label": "share without the event"},
            )
            for i, name in enumerate(names)
        )
        return (declared[0], *curves, *declared[1:])
