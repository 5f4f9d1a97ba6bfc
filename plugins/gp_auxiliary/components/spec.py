"""What binary principal components declare."""

from __future__ import annotations

from plaidwork.core.api import Hyperparameter, Input, ModelSpec, Schedule, Trace, Variable, View

Y = Input(
    "Y",
    "matrix",
    "binary",
    dims=("sample", "feature"),
    samples="sample",
    missing=True,
    holdout="cells",
    least=(10, 4),
    label="Matrix",
    doc="Samples by features, zeros and ones; cells may be missing.",
)

SETTINGS = (
    Hyperparameter(
        "factors",
        "int",
        5,
        label="Components",
        group="Model",
        doc="At most so many; those that the data do not need shrink to nothing.",
        minimum=1,
        maximum=50,
    ),
    Hyperparameter(
        "ard",
        "bool",
        True,
        label="Superfluous components shrink",
        group="Model",
        doc="Each component's loadings have a variance of their own (automatic relevance determination).",
    ),
    Hyperparameter(
        "loading_sd",
        "float",
        1.0,
        label="Sd of the loadings",
        group="Model",
        doc="Standard deviation of the loadings before the data are seen; larger values let components be stronger.",
        minimum=0.0,
        open_minimum=True,
        maximum=100.0,
        when={"ard": False},
    ),
    Hyperparameter(
        "precision_shape",
        "float",
        1.0,
        label="Shape of the loadings' precision",
        group="Model",
        doc="Precisions of the components are Gamma(shape, rate).",
        minimum=0.0,
        open_minimum=True,
        maximum=1e4,
        log=True,
        advanced=True,
        when={"ard": True},
    ),
    Hyperparameter(
        "precision_rate",
        "float",
        0.1,
        label="Rate of the loadings' precision",
        group="Model",
        doc="Second number of that prior: the smaller it is, the harder superfluous components shrink.",
        minimum=0.0,
        open_minimum=True,
        maximum=1e4,
        log=True,
        advanced=True,
        when={"ard": True},
    ),
    Hyperparameter(
        "mean_sd",
        "float",
        3.0,
        label="Sd of the features' means",
        group="Model",
        doc="A feature that is 1 in a thousandth of the samples has mean −3.",
        minimum=0.0,
        open_minimum=True,
        maximum=100.0,
        advanced=True,
    ),
    Hyperparameter(
        "leaps",
        "int",
        15,
        label="Steps of a trajectory",
        group="Moves",
        doc="Scores, loadings and means move together along a Hamiltonian trajectory in each sweep, of so many steps on average; 0: never.",
        minimum=0,
        maximum=200,
        advanced=True,
        earlier=0,
    ),
)

_JUDGED = {
    "labels": "cell_code",
    "probability": "cell_probability",
    "names": "cell_class",
    "part": "cell_part",
}

BINARY_PCA = ModelSpec(
    id="binary_pca",
    version="1.0",
    title="Binary principal components",
    summary="A few components behind a matrix of zeros and ones, with their uncertainty; fills missing cells.",
    tags=("factors", "binary", "missing values"),
    inputs=(Y,),
    hyperparameters=SETTINGS,
    dims={"component": "components"},
    variables=(
        Variable("scores", ("sample", "component"), label="Scores", doc="in the sampler's own axes"),
        Variable("loadings", ("feature", "component"), label="Loadings", doc="in the sampler's own axes"),
        Variable("mean", ("feature",), label="Means"),
        Variable("log_likelihood", label="Log likelihood"),
    ),
    traces=(
        Trace(
            "log_likelihood", "log likelihood", hint="of the known cells; settles at a level", primary=True
        ),
        Trace("signal", "variance of the components", hint="at a cell, beside the noise of 1", y_log=True),
        Trace("spread", "spread of the means", hint="their sd over the features"),
    ),
    views=(
        View(
            "scatter",
            "Scores",
            {"values": "scores"},
            headline="scores_headline",
            caption="scores_note",
            options={"x": 1, "y": 2},
        ),
        View(
            "bars",
            "Strength",
            {"values": "strength", "x": "rank_number", "interval": "strength_interval"},
            headline="strength_headline",
            caption="strength_note",
            options={"x_label": "component", "y_label": "share of the variance"},
        ),
        View(
            "coefficients",
            "Loadings",
            {"values": "loadings", "interval": "loadings_interval"},
            caption="loadings_note",
            options={"dim": "feature"},
        ),
        View(
            "factor_heatmap",
            "Cells",
            {"values": "scores", "weights": "loadings", "matrix": "data:Y", "fitted": "fitted:Y"},
            caption="cells_note",
            group="Cells",
        ),
        View("imputed", "Missing cells", {"values": "fitted:Y"}, group="Cells", gaps="Y"),
        View("table", "Scores of the cells", {"values": "measures"}, caption="measures_note", group="Cells"),
        *(
            View(kind, title, _JUDGED, group="Cells")
            for kind, title in (("roc", "ROC"), ("calibration", "Calibration"))
        ),
    ),
    schedule=Schedule(chains=4, warmup=300, draws=1000),
    state_version=2,
    citation=(
        "Albert, J. H., Chib, S. (1993). Bayesian analysis of binary and polychotomous response data. Journal of the "
        "American Statistical Association 88, 669-679.\n"
        "Duane, S., Kennedy, A. D., Pendleton, B. J., Roweth, D. (1987). Hybrid Monte Carlo. Physics Letters B 195, 216-222.\n"
        "Liu, J. S., Wu, Y. N. (1999). Parameter expansion for data augmentation. Journal of the American Statistical "
        "Association 94, 1264-1274."
    ),
)
