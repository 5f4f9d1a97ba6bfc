"""What the Gaussian process models declare."""

from __future__ import annotations

from dataclasses import replace

from plaidwork.core.api import Choice, Hyperparameter, Input, ModelSpec, Schedule, Trace, Variable, View
from plaidwork.plugins.gp_auxiliary.shared.settings import (
    CHOOSING,
    COVARIANCE,
    CUT_MOVES,
    MOVES,
    SAMPLING,
    STARTS,
    STRETCH,
    TEST,
    TOGETHER,
    with_choice,
)

ROGERS = (
    "Girolami, M., Rogers, S. (2006). Variational Bayesian multinomial probit regression with Gaussian process "
    "priors. Neural Computation 18, 1790-1817."
)
ALBERT = (
    "Albert, J. H., Chib, S. (1993). Bayesian analysis of binary and polychotomous response data. Journal of the "
    "American Statistical Association 88, 669-679."
)

X = Input(
    "X",
    "matrix",
    "real",
    dims=("sample", "input"),
    samples="sample",
    label="Inputs",
    doc="Samples by measurements. Where one is missing the mean of the fitted samples stands in its place.",
    missing=True,
)
SPLIT = Input(
    "split",
    "labels",
    "categorical",
    dims=("sample",),
    samples="sample",
    missing=True,
    required=False,
    label="Split",
    doc="Samples labelled “test” are never fitted: their labels only measure the predictions.",
    fit_only=True,
)


def labels(doc: str, dtype: str = "categorical") -> Input:
    return Input(
        "y",
        "labels",
        dtype,  # type: ignore[arg-type]
        dims=("sample",),
        samples="sample",
        missing=True,
        label="Classes",
        doc=doc,
    )


DIMS = {
    "fitted": "samples in the fit",
    "latent": "latent functions: one for two classes, else one per class",
    "parameter": "parameters of the covariance",
}
VARIABLES = (
    Variable("z", ("latent", "fitted"), label="Auxiliary variable"),
    Variable("theta", ("parameter",), label="Covariance", doc="logarithms of the covariance's parameters"),
    Variable(
        "log_density",
        label="Log density",
        doc="of the auxiliary variables and the covariance, f integrated out",
    ),
    Variable("squared_length", label="Squared length of z", doc="z'(C + I)⁻¹z"),
)
_LEARNED = {"parameters": "inferred"}
TRACES = (
    Trace(
        "log_density",
        "log density",
        hint="auxiliary variables and covariance; settles at a level",
        primary=True,
    ),
    Trace("squared_length", "squared length of z", hint="how far the auxiliary variables are from 0"),
    Trace("amplitude", "amplitude²", hint="variance of f", y_log=True, when=_LEARNED),
    Trace("accepted", "covariance steps", kind="acceptance", when=_LEARNED),
)
PROBABILITIES = View(
    "table", "Predictions", {"values": "predictions"}, caption="prediction_note", group="Predictions"
)
JUDGED = {"labels": "sample_code", "probability": "probability", "names": "class", "part": "part"}
SEVERAL_INPUTS = {"X": (2, 1_000_000)}
"""Data whose inputs can be compared."""
VIEWS = (
    View(
        "table",
        "Scores",
        {"values": "measures"},
        headline="headline",
        caption="measures_note",
        group="Predictions",
    ),
    PROBABILITIES,
    *(
        View(kind, title, JUDGED, group="Predictions")
        for kind, title in (
            ("confusion", "Confusion"),
            ("roc", "ROC"),
            ("calibration", "Calibration"),
            ("shares", "Each sample"),
        )
    ),
    View(
        "surface",
        "Probability map",
        {
            "values": "map",
            "x": "map_x",
            "y": "map_y",
            "names": "class",
            "points": "map_points",
            "labels": "map_labels",
            "test": "map_test",
            "null": "map_null",
            "uncertainty": "map_sd",
        },
        headline="headline",
        caption="map_note",
        options={
            "response": {"input": "X", "values": "probability", "null": "null", "uncertainty": "f_sd"},
            "equal": {"covariance": "rbf", "ard": False, "standardise": False},
        },
    ),
    View(
        "posterior",
        "Posterior and prior",
        {"values": "draws:theta", "x": "theta_x", "prior": "theta_prior", "names": "parameter"},
        options={"log": True, "dim": "parameter"},
        group="Covariance",
        when=_LEARNED,
    ),
    View(
        "coefficients",
        "Relevance of the inputs",
        {"values": "relevance", "interval": "relevance_interval", "names": "relevance_names"},
        headline="relevance_headline",
        options={"dim": "input", "signed": False},
        group="Covariance",
        columns=SEVERAL_INPUTS,
    ),
    View("table", "Table", {"values": "covariance"}, caption="covariance_note", group="Covariance"),
    View(
        "curve",
        "Class probabilities",
        {
            "values": "slice_probability",
            "interval": "slice_probability_interval",
            "x": "slice_x",
        },
        caption="slice_probability_note",
        options={
            "response": {"input": "X", "values": "probability", "interval": "probability_interval"},
            "y_label": "probability",
        },
        group="Along one input",
    ),
    View(
        "curve",
        "Latent value",
        {"values": "slice", "interval": "slice_interval", "x": "slice_x"},
        caption="slice_note",
        options={"response": {"input": "X", "values": "f", "interval": "f_interval"}},
        group="Along one input",
    ),
)

AUXILIARY = View(
    "curve",
    "Auxiliary variable",
    {"values": "auxiliary", "x": "auxiliary_x", "shaded": "auxiliary_null"},
    headline="auxiliary_headline",
    caption="auxiliary_note",
    options={"y_label": "density"},
)

SAMPLER = Schedule(chains=4, warmup=500, draws=2000)

CLASSES = ModelSpec(
    id="gp_classes",
    version="1.1",
    title="Gaussian process classification",
    summary="Smooth, uncertain boundaries between two or more classes, from few inputs.",
    tags=("classification", "Gaussian process"),
    inputs=(
        replace(X, most=(250, 20)),
        labels("Two classes or more; samples without a label are predicted only."),
        SPLIT,
    ),
    hyperparameters=(*map(with_choice, COVARIANCE), *CHOOSING, *TEST, *SAMPLING, *MOVES, *STRETCH),
    dims=DIMS,
    variables=VARIABLES,
    traces=TRACES,
    views=(*VIEWS, AUXILIARY),
    schedule=Schedule(chains=4, warmup=300, draws=500),
    state_version=2,
    citation=f"{ALBERT}\n{ROGERS}",
)

CUTS = (
    Hyperparameter(
        "cut_points",
        "choice",
        "inferred",
        label="Cut-points",
        group="Classes",
        doc="Places on the scale of f where one class ends and the next begins: learned, equally spaced, or as you give them.",
        choices=(
            Choice(value="inferred", label="Inferred"),
            Choice(value="fixed", label="Equally spaced"),
            Choice(value="given", label="Given", doc="As written below."),
        ),
    ),
    Hyperparameter(
        "given_cuts",
        "text",
        "-1, 1",
        label="Given cut-points",
        group="Classes",
        doc="From low to high, in units of the noise, with commas between; one fewer than there are classes.",
        when={"cut_points": "given"},
    ),
    Hyperparameter(
        "gap",
        "float",
        1.0,
        label="Distance of the cut-points",
        group="Classes",
        doc="In units of the noise; only the start when they are inferred.",
        when={"cut_points": ("inferred", "fixed")},
        minimum=0.0,
        open_minimum=True,
        maximum=100.0,
    ),
    Hyperparameter(
        "cut_sd",
        "float",
        3.0,
        label="Width of the first cut-point's prior",
        group="Classes",
        doc="Its standard deviation around 0, in units of the noise.",
        when={"cut_points": "inferred"},
        minimum=0.0,
        open_minimum=True,
        maximum=100.0,
        advanced=True,
    ),
    Hyperparameter(
        "cut_gap_sd",
        "float",
        1.0,
        label="Width of the prior of the gaps",
        group="Classes",
        doc="Standard deviation of the logarithm of each distance between neighbouring cut-points, around 0.",
        when={"cut_points": "inferred"},
        minimum=0.0,
        open_minimum=True,
        maximum=20.0,
        advanced=True,
    ),
)

ORDERED_CLASSES = ModelSpec(
    id="gp_ordered_classes",
    version="1.1",
    title="Gaussian process, ordered classes",
    summary="Grades, stages or scores: a latent quantity that the inputs predict, and the cut-points on it.",
    tags=("ordinal", "Gaussian process"),
    inputs=(
        X,
        labels("Grades in their order: numbers by size, texts as the data have them.", "ordinal"),
        SPLIT,
    ),
    hyperparameters=(
        *(replace(item, default=False) if item.name == "intercept" else item for item in COVARIANCE),
        *TEST,
        *CUTS,
        *(item for item in SAMPLING if item.name != "site_sweeps"),
        *MOVES,
        *TOGETHER,
        *CUT_MOVES,
    ),
    dims=DIMS | {"cut": "cut-points between neighbouring classes"},
    variables=(*VARIABLES, Variable("cuts", ("cut",), label="Cut-points")),
    traces=(
        *TRACES,
        Trace("mean_cut", "mean cut-point"),
        Trace("width", "first to last cut-point", hint="in units of the noise"),
    ),
    views=(
        *VIEWS,
        View(
            "coefficients",
            "Cut-points",
            {"values": "cut_points", "interval": "cut_interval", "names": "cut_names"},
            headline="cut_headline",
            caption="cut_note",
            options={"dim": "cut-point", "order": "value", "signed": False},
            group="Cut-points",
        ),
        View(
            "curve",
            "Classes along f",
            {
                "values": "latent_shares",
                "interval": "latent_interval",
                "x": "latent_x",
                "marks": "cut_points",
                "rug": "latent_rug",
            },
            caption="latent_note",
            options={"stacked": True},
            group="Cut-points",
        ),
        View(
            "posterior",
            "Posterior and prior",
            {"values": "draws:cuts", "x": "cut_prior_x", "prior": "cut_prior", "names": "cut_names"},
            options={"dim": "cut-point"},
            group="Cut-points",
        ),
    ),
    schedule=SAMPLER,
    state_version=2,
    citation=ALBERT,
)

QUICK_CLASSES = ModelSpec(
    id="gp_quick_classes",
    version="1.0",
    title="Gaussian process, quick look",
    summary="Class probabilities in seconds, by an approximation; its uncertainty of f is too small.",
    tags=("classification", "Gaussian process", "variational"),
    algorithm="variational",
    inputs=(replace(X, most=(1500, 20)), labels("Two classes or more."), SPLIT),
    hyperparameters=(
        *map(with_choice, COVARIANCE),
        *CHOOSING,
        *TEST,
        *(item for item in SAMPLING if item.name in ("form", "inducing")),
        *STARTS,
    ),
    dims=DIMS,
    variables=VARIABLES[:2],
    traces=(
        Trace("elbo", "bound", hint="never falls", goal="up", primary=True),
        Trace("amplitude", "amplitude²", hint="variance of f", y_log=True),
        Trace("step", "largest step of the covariance", hint="the search ends when it is small", y_log=True),
    ),
    views=tuple(view for view in VIEWS if view.kind != "posterior"),
    schedule=Schedule(chains=2, max_sweeps=3000, tolerance=0.1, window=50),
    state_version=2,
    citation=ROGERS,
)
