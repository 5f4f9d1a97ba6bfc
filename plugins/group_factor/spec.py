"""What the model declares: inputs, variables, traces and views."""

from __future__ import annotations

from plaidwork.core.api import Input, ModelSpec, Schedule, Trace, Variable, View
from plaidwork.plugins.group_factor.settings import SETTINGS

CITATION = (
    "Argelaguet, R., Velten, B., Arnol, D., et al. (2018). Multi-omics factor analysis: a framework for unsupervised "
    "integration of multi-omics data sets. Molecular Systems Biology 14, e8124."
)

WEIGHTS = ("factor", "variable")
GROUP_FACTOR = ModelSpec(
    id="group_factor",
    version="0.1.0",
    title="Group factor analysis",
    summary="Factors shared by **several views** of the same samples, with sparse weights; views may be numbers, "
    "counts or 0/1, and samples may lack views.",
    tags=("factors", "multi-view", "sparse"),
    algorithm="variational",
    inputs=(
        Input(
            "views",
            "matrix",
            "real",
            dims=("sample", "feature"),
            samples="sample",
            label="Views",
            doc="One or more matrices of samples by features. A sample may lack cells or whole views.",
            missing=True,
            many=True,
            holdout="cells",
            union=True,
            in_file=True,
            least=(10, 4),
            also=("count", "binary"),
        ),
        Input(
            "groups",
            "labels",
            "categorical",
            dims=("sample",),
            samples="sample",
            required=False,
            label="Sample groups",
            doc="The group of every sample, as a study or a tissue. Numbers are centred in each group, and noise and the size of "
            "factor values are each group's own; weights and intercepts are shared.",
        ),
        Input(
            "along",
            "vector",
            "real",
            dims=("sample",),
            samples="sample",
            required=False,
            label="Time or place",
            doc="When or where each sample was taken: one column of numbers as a day or an age, or two or three as a place, in one unit. "
            "Factor values of samples near each other are then alike, as far as the data say so; with sample groups all groups have one course.",
            several="coordinate",
        ),
        Input(
            "start",
            "matrix",
            "real",
            dims=("sample", "start_factor"),
            samples="sample",
            required=False,
            label="Start values",
            doc="Factor values before the first sweep, samples by factors, each with a variance of about 1.",
        ),
    ),
    hyperparameters=SETTINGS,
    dims={
        "factor": "factor",
        "variable": "features of all views, one view after the other",
        "view": "view",
        "sample_group": "sample group, one where none are given",
    },
    variables=(
        Variable("z", ("factor", "sample"), ragged=True, label="Factor values", doc="mean of q"),
        Variable("z_var", ("factor", "sample"), ragged=True, label="Variance of the factor values"),
        Variable("w", WEIGHTS, ragged=True, label="Weights", doc="mean of q, spike included"),
        Variable("w_var", WEIGHTS, ragged=True, label="Variance of the weights"),
        Variable("inclusion", WEIGHTS, ragged=True, label="Inclusion probability"),
        Variable("alpha", ("factor", "view"), ragged=True, label="Precision of the weights"),
        Variable("theta", ("factor", "view"), ragged=True, label="Share of active weights"),
        Variable("intercept", ("variable",), label="Intercept", doc="0 in Gaussian views, which are centred"),
        Variable("intercept_var", ("variable",), label="Variance of the intercept"),
        Variable("group_intercept", ("sample_group", "variable"), label="Intercept by sample group"),
        Variable(
            "group_intercept_var",
            ("sample_group", "variable"),
            label="Variance of the intercept by sample group",
        ),
        Variable(
            "tau",
            ("sample_group", "variable"),
            label="Noise precision",
            doc="1 in views that are not Gaussian",
        ),
        Variable(
            "score_precision",
            ("factor", "sample_group"),
            ragged=True,
            label="Precision of the factor values",
            doc="of a factor in a sample group; 1 where there is one group",
        ),
        Variable(
            "smooth_share",
            ("factor",),
            ragged=True,
            label="Smooth share",
            doc="of a factor along time or place; 0 without",
        ),
        Variable(
            "smooth_length",
            ("factor",),
            ragged=True,
            label="Length",
            doc="over which a factor changes, in the unit of time or place",
        ),
        Variable(
            "score_gain",
            ("factor", "sample"),
            ragged=True,
            label="Precision by the data",
            doc="that the data give a factor value, where time or place is given",
        ),
    ),
    traces=(
        Trace("elbo", "Evidence lower bound", hint="rises until it levels off", goal="up", primary=True),
        Trace("likelihood", "Bound: data", hint="how well the data are explained"),
        Trace("weights", "Bound: weights", hint="price of the weights"),
        Trace("scores", "Bound: factor values", hint="price of the factor values"),
        Trace("other", "Bound: precisions and intercepts", hint="price of all else"),
        Trace("n_factors", "Factors", hint="weak ones leave", kind="count", breaks=True),
        Trace("active", "Active weights", hint="share with inclusion above one half", kind="share"),
    ),
    views=(
        View(
            "variance",
            "Variance explained",
            {
                "values": "variance_explained",
                "total": "total_explained",
                "row_names": "view",
                "column_names": "factor",
                "by_group": "variance_by_group",
                "groups": "sample_group",
            },
            headline="headline",
            caption="caption",
        ),
        View(
            "table",
            "By factor",
            {"values": "variance_table"},
            options={"layer": True},
            group="Variance table",
        ),
        View("table", "Totals", {"values": "totals"}, group="Variance table"),
        View(
            "coefficients",
            "Chart",
            {
                "values": "loadings",
                "interval": "loading_interval",
                "probability": "inclusion",
                "group": "variable_view",
            },
            options={"dim": "features", "probability_label": "being in the factor"},
            group="Weights",
        ),
        View("table", "Table", {"values": "weights"}, group="Weights"),
        View(
            "factor_heatmap",
            "Heat map",
            {
                "values": "scores",
                "weights": "loadings",
                "group": "variable_view",
                "matrix": "data:views",
                "fitted": "fitted:views",
            },
            group="Weights",
        ),
        View("scatter", "Scatter", {"values": "scores"}, group="Factor values"),
        View("beeswarm", "Beeswarm", {"values": "scores"}, group="Factor values"),
        View(
            "heatmap",
            "Heat map",
            {"values": "scores"},
            options={"scale": "diverging", "layer": "column"},
            group="Factor values",
        ),
        View(
            "heatmap",
            "Correlation",
            {"values": "correlation", "row_names": "factor", "column_names": "factor"},
            options={"scale": "diverging", "minimum": -1, "maximum": 1, "layer": "both"},
            group="Factor values",
        ),
        View("table", "Table", {"values": "score_table"}, group="Factor values"),
        View(
            "picture",
            "One factor",
            {"values": "course", "headline": "along_headline", "caption": "along_note"},
            options={"factory": "group_factor.course"},
            group="Over time or place",
            columns={"along": (1, 100)},
        ),
        View(
            "table",
            "Smoothness",
            {"values": "smoothness"},
            headline="along_headline",
            group="Over time or place",
            columns={"along": (1, 100)},
        ),
        View("imputed", "Imputation", {"values": "fitted:views"}, gaps="views"),
        View(
            "restarts",
            "Factors paired",
            {
                "values": "restart_correlation",
                "restart": "restart_of",
                "names": "restart_names",
                "shown": "restart_shown",
            },
            group="Restarts",
        ),
        View("table", "Restarts", {"values": "restarts"}, group="Restarts"),
        View("table", "Stability", {"values": "stability"}, options={"layer": True}, group="Restarts"),
    ),
    state_version=4,
    schedule=Schedule(chains=2, max_sweeps=8000, tolerance=0.1, window=50, relaxation=16.0),
    citation=CITATION,
    help=(
        "Every value is an intercept plus the sum over factors of the sample's factor value times the feature's weight. A "
        "weight is switched on or off; the share switched on is learned for every factor and view, and so is the size of "
        "those on. Factors that explain too little in all views leave during the fit.\n\n"
        "Variance explained is the share of the deviance: for numbers that of the squared error, for counts and 0/1 that "
        "of the log likelihood, against a constant per feature."
    ),
)
