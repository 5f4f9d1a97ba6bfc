"""What the model of several raters declares."""

from __future__ import annotations

from dataclasses import replace

from plaidwork.core.api import Hyperparameter, Input, ModelSpec, Schedule, Trace, Variable, View
from plaidwork.plugins.gp_auxiliary.classes.spec import ALBERT, CUTS, DIMS, ORDERED_CLASSES, TRACES, X
from plaidwork.plugins.gp_auxiliary.shared.settings import COVARIANCE, SAMPLING

RATINGS = Input(
    "ratings",
    "matrix",
    "ordinal",
    dims=("sample", "grades"),
    samples="sample",
    missing=True,
    label="Ratings",
    doc="Objects by raters: a grade in each cell, with gaps where nobody rated. Or one column of grades, a rating a row.",
    fit_only=True,
)
RATER = Input(
    "rater",
    "labels",
    "categorical",
    dims=("sample",),
    samples="sample",
    missing=True,
    required=False,
    label="Rater of each row",
    doc="Where a row is one rating: whose it is. Rows with the same inputs are one object. Else leave it empty.",
    fit_only=True,
)

RATERS = (
    Hyperparameter(
        "reference",
        "text",
        "",
        label="Offsets count from",
        group="Raters",
        doc="The name of a rater whose offset is fixed at 0. Empty: the average of all raters.",
    ),
    Hyperparameter(
        "precision_shape",
        "float",
        1.5,
        label="Shape of the precisions' prior",
        group="Raters",
        doc="Precisions are Gamma(shape, rate) in units of the model's scale; a larger shape makes raters more alike.",
        minimum=0.0,
        open_minimum=True,
        maximum=1e4,
        log=True,
        advanced=True,
    ),
    Hyperparameter(
        "precision_rate",
        "float",
        0.3,
        label="Rate of the precisions' prior",
        group="Raters",
        doc="Second number of that prior: a larger rate expects raters whose grades scatter more.",
        minimum=0.0,
        open_minimum=True,
        maximum=1e4,
        log=True,
        advanced=True,
    ),
)

_OFTEN = {"site_sweeps": 2, "walks": 8}
_JUDGED = {
    "labels": "rating_code",
    "probability": "rating_probability",
    "names": "grade",
    "part": "rating_part",
}
_COVARIANCE = tuple(view for view in ORDERED_CLASSES.views if view.group == "Covariance")

RATED = ModelSpec(
    id="gp_raters",
    version="1.0",
    title="Gaussian process, several raters",
    summary="Grades by several raters: what they agree on, who is strict or lenient, who is precise, and what the inputs say.",
    tags=("ordinal", "raters", "Gaussian process"),
    inputs=(
        replace(
            X,
            doc="Objects by measurements; the places that f is smooth over. Where one is missing the mean of all stands in its place.",
        ),
        RATINGS,
        RATER,
    ),
    hyperparameters=(
        *(replace(item, default=False) if item.name == "intercept" else item for item in COVARIANCE),
        *RATERS,
        *CUTS,
        *(replace(item, default=_OFTEN.get(item.name, item.default)) for item in SAMPLING),
    ),
    dims={
        "fitted": "objects with a rating",
        "rater": "raters",
        "parameter": DIMS["parameter"],
        "cut": "cut-points between neighbouring grades",
    },
    variables=(
        Variable("f", ("fitted",), label="Consensus"),
        Variable(
            "together", ("fitted",), label="Ratings together", doc="what all ratings of an object say of f"
        ),
        Variable("offset", ("rater",), label="Offset"),
        Variable("precision", ("rater",), label="Precision"),
        Variable("cuts", ("cut",), label="Cut-points"),
        Variable(
            "theta", ("parameter",), label="Covariance", doc="logarithms of the covariance's parameters"
        ),
        Variable("log_likelihood", label="Log likelihood", doc="of the given ratings"),
    ),
    traces=(
        Trace(
            "log_likelihood", "log likelihood", hint="of the given ratings; settles at a level", primary=True
        ),
        Trace(
            "amplitude", "amplitude²", hint="variance of f, in units of the mean width of a grade", y_log=True
        ),
        next(item for item in TRACES if item.name == "accepted"),
        Trace("spread", "largest difference of offsets", hint="in units of the mean width of a grade"),
        Trace("noise", "geometric mean of the raters' sd", hint="in units of the mean width of a grade"),
    ),
    views=(
        View(
            "effects",
            "Offsets",
            {"values": "offset", "interval": "offset_interval", "names": "rater", "count": "rating_count"},
            headline="offset_headline",
            caption="offset_note",
            options={"dim": "rater", "count_label": "ratings"},
            group="Raters",
        ),
        View(
            "effects",
            "Scatter",
            {"values": "scatter", "interval": "scatter_interval", "names": "rater", "count": "rating_count"},
            headline="scatter_headline",
            caption="scatter_note",
            options={"dim": "rater", "count_label": "ratings"},
            group="Raters",
        ),
        View("table", "Raters", {"values": "raters"}, caption="raters_note", group="Raters"),
        View(
            "curve",
            "Consensus",
            {"values": "slice", "interval": "slice_interval", "x": "slice_x"},
            headline="slice_headline",
            caption="slice_note",
            options={"y_label": "consensus"},
            group="Consensus",
        ),
        View("table", "Objects", {"values": "consensus"}, caption="consensus_note", group="Consensus"),
        View(
            "heatmap",
            "Grade of each object",
            {"values": "grade_probability", "column_names": "grade"},
            headline="consensus_headline",
            options={"minimum": 0.0, "maximum": 1.0, "cluster": False},
            group="Consensus",
        ),
        View(
            "coefficients",
            "Limits of the grades",
            {"values": "limit", "interval": "limit_interval", "names": "limit_names"},
            headline="limit_headline",
            caption="limit_note",
            options={"dim": "limit", "order": "value", "signed": False},
            group="Consensus",
        ),
        View("table", "Every rating", {"values": "ratings"}, caption="ratings_note", group="Ratings"),
        *(
            View(kind, title, _JUDGED, group="Ratings")
            for kind, title in (("confusion", "Confusion"), ("calibration", "Calibration"))
        ),
        *_COVARIANCE,
    ),
    schedule=Schedule(chains=4, warmup=500, draws=1000),
    state_version=2,
    citation=ALBERT,
)
