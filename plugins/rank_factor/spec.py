"""What the two models declare: inputs, variables, traces and views."""

from __future__ import annotations

from plaidwork.core.api import Input, ModelSpec, Schedule, Trace, Variable, View
from plaidwork.plugins.rank_factor.settings import FAST_SETTINGS, MIXTURE, PLANES, PROCESS, SETTINGS

CITATION = (
    "Yuan, X., Henao, R., Tsalik, E. L., Langley, R. J., Carin, L. (2015). Non-Gaussian discriminative factor models via "
    "the max-margin rank-likelihood. Proceedings of the 32nd International Conference on Machine Learning."
)
SUMMARY = (
    "Factors that explain the **order** of each feature's values (or the values) and at once separate labelled **classes** "
    "with a margin."
)
HELP = (
    "Every feature is a weighted sum of factor scores, seen only through the order of its values: whatever increasing "
    "function has made the values of it does not matter. The labels pull the factors towards those that separate the "
    "classes; with a mixture of planes the boundary bends. A Gaussian process bends as it needs to, through scores that follow from the "
    "data alone. Several classes are fitted at once, each against the rest.\n\n"
    "Samples without a label are fitted too. Samples that “Split” calls test are not: they are placed among the training "
    "values, get scores with everything else as it is, and are predicted. Neither hinge is normalised over "
    "data, so this is a generalised posterior: it has no likelihood of new data."
)
INPUTS = (
    Input(
        "X",
        dims=("sample", "feature"),
        samples="sample",
        label="Data",
        doc="Samples by features: pixels, genes, …",
        missing=True,
        least=(1, 5),
    ),
    Input(
        "y",
        "labels",
        "categorical",
        dims=("sample",),
        samples="sample",
        label="Labels",
        doc="Class of each sample; missing where not known.",
        missing=True,
    ),
    Input(
        "split",
        "labels",
        "categorical",
        dims=("sample",),
        samples="sample",
        label="Split",
        doc="Which samples are for the test: they are predicted, not fitted.",
        missing=True,
        required=False,
        fit_only=True,
    ),
)
DIMS = {
    "factor": "factor",
    "threshold": "thresholds of a feature, from below",
    "group": "groups of samples",
    "classifier": "one for two classes, else one per class",
    "coefficient": "factors, and the offset last; training samples of a Gaussian process",
    "entry": "entries of a symmetric matrix, row by row of the lower triangle",
    "entry_2": "the same for the coefficients",
}
COMMON = (
    Variable("loadings", ("feature", "factor"), label="Loadings", doc="0 for features left out"),
    Variable("shrinkage", ("feature", "factor"), label="Shrinkage", doc="1 / (1 + prior variance)"),
    Variable("scores", ("sample", "factor"), label="Factor scores"),
    Variable("beta", ("group", "classifier", "coefficient"), label="Coefficients of the classifiers"),
    Variable("thresholds", ("feature", "threshold"), label="Thresholds", doc="0 where a feature has fewer"),
    Variable("noise", ("feature",), label="Noise precision", doc="1 for ranks"),
    Variable("group_mean", ("group", "factor"), label="Centres of the groups"),
    Variable("group_precision", ("group",), label="Precisions of the groups"),
    Variable("log_weight", ("group",), label="Log weights of the groups"),
)
SAMPLED = (
    Variable("decision", ("sample", "classifier"), label="Values of the classifiers"),
    Variable("group", ("sample",), "int", label="Group", doc="-1 for test samples"),
)
APPROXIMATED = (
    Variable("loadings_cov", ("feature", "entry"), label="Covariance of the loadings"),
    Variable("scores_cov", ("sample", "entry"), label="Covariance of the scores"),
    Variable("beta_cov", ("group", "classifier", "entry_2"), label="Covariance of the coefficients"),
    Variable("thresholds_var", ("feature", "threshold"), label="Variance of the thresholds"),
    Variable("group_mean_var", ("group",), label="Variance of the centres"),
    Variable("share", ("sample", "group"), label="Share of the groups", doc="0 for test samples"),
)
TRACES = (
    Trace("hinge", "Mean hinge of a comparison", hint="0: all orders with margin", goal="down"),
    Trace("ordered", "Comparisons in order", kind="share", goal="up"),
    Trace("noise", "Noise sd", hint="of standardised features"),
    Trace("error", "Training error", kind="share", goal="down"),
    Trace("label_hinge", "Mean hinge of a label", hint="0: all right with margin", goal="down"),
    Trace("loadings", "Length of a feature's loadings", hint="median over features"),
    Trace("coefficients", "Size of the coefficients", hint="free once all labels are right", judged=False),
    Trace("groups", "Groups in use", kind="count"),
    Trace("alpha", "Mass of new groups"),
)
CLASSES = {"labels": "sample_code", "probability": "probability", "names": "class", "part": "part"}
FEATURE_FIT = {"values": "scores", "weights": "loadings", "matrix": "data:X", "first": "shown_feature"}
VIEWS = (
    View(
        "confusion",
        "Confusion",
        CLASSES,
        headline="headline",
        caption="caption",
        group="Classification",
    ),
    *(
        View(kind, title, CLASSES, group="Classification")
        for kind, title in (("roc", "ROC"), ("calibration", "Calibration"))
    ),
    View("table", "Errors", {"values": "metrics"}, group="Classification"),
    View("table", "Predictions", {"values": "predictions"}, group="Classification"),
    View(
        "coefficients",
        "By class",
        {"values": "coefficients", "interval": "coefficient_interval", "names": "factor"},
        options={"dim": "factors", "order": "value", "top": 20, "together": True},
        group="Classifier",
    ),
    View(
        "coefficients",
        "By group and class",
        {"values": "group_coefficients", "interval": "group_coefficient_interval", "names": "factor"},
        options={"dim": "factors", "order": "value"},
        group="Classifier",
        when=MIXTURE,
    ),
    View(
        "bars",
        "Sizes of the groups",
        {"values": "group_size"},
        headline="groups_title",
        options={"y_label": "Share of samples"},
        group="Classifier",
        when=MIXTURE,
    ),
    View(
        "coefficients",
        "Chart",
        {"values": "loadings", "interval": "loading_interval"},
        options={"dim": "features"},
        group="Loadings",
    ),
    View(
        "image_grid",
        "Images",
        {
            "values": "loading_images",
            "weight": "coefficients",
            "interval": "coefficient_interval",
            "weight_names": "classifier",
            "names": "factor",
            "scores": "scores",
            "classes": "sample_class",
            "images": "data:X",
        },
        options={"signed": True},
        group="Loadings",
    ),
    View("table", "Strongest", {"values": "top_features"}, group="Loadings"),
    View(
        "heatmap",
        "Similarity",
        {"values": "similarity", "row_names": "similar_feature", "column_names": "similar_feature"},
        options={"scale": "diverging", "minimum": -1, "maximum": 1},
        group="Loadings",
    ),
    View(
        "network",
        "Features",
        {
            "values": "network_weight",
            "edges": "network_edge",
            "confidence": "network_confidence",
            "names": "network_node",
            "strength": "network_strength",
            "group": "network_factor",
        },
        group="Network",
    ),
    View(
        "network",
        "Factors and features",
        {
            "values": "top_loadings",
            "confidence": "top_confidence",
            "row_names": "factor",
            "names": "network_node",
        },
        options={"top": 2, "two_kinds": True},
        group="Network",
    ),
    View("table", "Links", {"values": "links"}, group="Network"),
    View(
        "scatter",
        "Scatter",
        {
            "values": "scores",
            "colour": "sample_class",
            "planes": "planes",
            "centres": "group_mean",
            "spread": "group_sd",
            "share": "group_size",
        },
        group="Factor scores",
        when=PLANES,
    ),
    View(
        "scatter",
        "Scatter",
        {"values": "scores", "colour": "sample_class"},
        group="Factor scores",
        when=PROCESS,
    ),
    View(
        "beeswarm",
        "By class",
        {"values": "scores", "colour": "sample_class"},
        group="Factor scores",
    ),
    View("table", "Factors", {"values": "factors"}, options={"layer": True}, group="Factor scores"),
    View(
        "curve",
        "By order",
        {"values": "order_fit", "x": "order", "interval": "order_fit_interval"},
        headline="order_fit_title",
        options={"x_label": "Share of samples with a lower value", "y_label": "Fitted value"},
        group="Fit",
    ),
    View(
        "feature_fit",
        "One feature",
        {
            **FEATURE_FIT,
            "order": "cell_order",
            "thresholds": "feature_thresholds",
            "levels": "feature_levels",
        },
        group="Fit",
        when={"likelihood": "rank", "scheme": "levels"},
    ),
    View(
        "feature_fit",
        "One feature",
        {**FEATURE_FIT, "order": "cell_order"},
        group="Fit",
        when={"likelihood": "rank", "scheme": "pairs"},
    ),
    View("feature_fit", "One feature", FEATURE_FIT, group="Fit", when={"likelihood": "gaussian"}),
    View("table", "All features", {"values": "agreement"}, group="Fit"),
)

RANK_FACTOR = ModelSpec(
    id="rank_factor",
    version="0.3.0",
    title="Rank factor classifier",
    summary=SUMMARY + " By sampling.",
    tags=("factors", "classification", "ranks", "sparse"),
    inputs=INPUTS,
    hyperparameters=SETTINGS,
    dims=DIMS,
    variables=(*COMMON, *SAMPLED),
    traces=(Trace("log_density", "Log density", hint="levels off", primary=True), *TRACES),
    views=VIEWS,
    schedule=Schedule(chains=6, warmup=300, draws=80, thin=4),
    state_version=3,
    citation=CITATION,
    help=HELP,
)
RANK_FACTOR_VB = ModelSpec(
    id="rank_factor_vb",
    version="0.2.0",
    title="Rank factor classifier (fast)",
    summary=SUMMARY + " By a variational approximation, in seconds; intervals are too narrow.",
    tags=("factors", "classification", "ranks", "sparse"),
    algorithm="variational",
    inputs=INPUTS,
    hyperparameters=FAST_SETTINGS,
    dims=DIMS,
    variables=(*COMMON, *APPROXIMATED),
    traces=(
        Trace("elbo", "Evidence lower bound", hint="rises until it levels off", goal="up", primary=True),
        *TRACES,
    ),
    views=VIEWS,
    schedule=Schedule(chains=1, max_sweeps=3000, tolerance=0.1, window=50),
    state_version=2,
    citation=CITATION,
    help=HELP,
)
