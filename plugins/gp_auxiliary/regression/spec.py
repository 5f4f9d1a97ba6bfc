"""What Gaussian process regression declares."""

from __future__ import annotations

from dataclasses import replace

from plaidwork.core.api import Choice, Hyperparameter, Input, ModelSpec, Schedule, Trace, Variable, View
from plaidwork.plugins.gp_auxiliary.classes.spec import SEVERAL_INPUTS, SPLIT, X
from plaidwork.plugins.gp_auxiliary.regression.terms import SHARED
from plaidwork.plugins.gp_auxiliary.shared.settings import SAMPLING, TEST

RASMUSSEN = "Rasmussen, C. E., Williams, C. K. I. (2006). Gaussian Processes for Machine Learning. MIT Press."

Y = Input(
    "y",
    "vector",
    "real",
    dims=("sample",),
    samples="sample",
    missing=True,
    label="Values",
    doc="A number for each sample, which the inputs are to explain, or several numbers, in a column each. Samples without one are "
    "predicted only.",
    several="output",
)


GROUPS = Input(
    "groups",
    "labels",
    "categorical",
    dims=("sample",),
    samples="sample",
    required=False,
    label="Groups",
    doc="What each sample is of, such as a person, a site or a device: for a function or a noise of each beside what they share.",
)
NOISE_KIND = Hyperparameter(
    "noise",
    "choice",
    "normal",
    label="Noise",
    group="Noise",
    doc="How the values scatter around the function: alike everywhere, with some far off, or more in some places.",
    choices=(
        Choice(value="normal", label="Normal", doc="One variance for all samples."),
        Choice(value="groups", label="By group", doc="Normal, with a variance of each of the “Groups”."),
        Choice(
            value="student",
            label="Heavy tails (Student's t)",
            doc="For values of which some are far off: they lose their weight. How heavy the tails are is inferred.",
        ),
        Choice(
            value="varying",
            label="Changes with the inputs",
            doc="A smooth function of the inputs, inferred too.",
        ),
    ),
)
OUTPUTS = (
    Hyperparameter(
        "outputs",
        "choice",
        "correlated",
        label="Functions of several outputs",
        group="Outputs",
        doc="Where “Values” has several columns: whether what is known of one helps with another.",
        choices=(
            Choice(
                value="correlated",
                label="Correlated",
                doc="Up to four outputs may have any correlations; of more each has one with a common factor.",
            ),
            Choice(value="apart", label="Independent", doc="They have lengths in common only."),
        ),
    ),
    Hyperparameter(
        "outputs_noise",
        "choice",
        "correlated",
        label="Noise of several outputs",
        group="Outputs",
        doc="Whether the values of one sample lie off their functions together.",
        choices=(
            Choice(
                value="correlated", label="Correlated", doc="Up to four outputs; that of more is independent."
            ),
            Choice(value="apart", label="Independent", doc="A variance for each output."),
        ),
    ),
)
NOISE = (
    Hyperparameter(
        "noise_variance",
        "float",
        0.1,
        label="Noise variance",
        group="Noise",
        doc="Middle of its prior, where the values have the variance 1.",
        minimum=1e-6,
        maximum=1e6,
        log=True,
    ),
    Hyperparameter(
        "noise_sd",
        "float",
        2.0,
        label="Width of its prior",
        group="Noise",
        doc="Standard deviation of the logarithm of the noise variance: 2 is a factor of 27 either way, at 90 %.",
        minimum=0.01,
        maximum=20.0,
        advanced=True,
    ),
)
SCALING = (
    Hyperparameter(
        "standardise_y",
        "bool",
        True,
        label="Standardise values",
        group="Inputs",
        doc="The values are brought to mean 0 and sd 1 of the fitted samples for the fit. Results are in their own units.",
    ),
)
SHARE = tuple(replace(item, doc="Of the samples with a value, drawn at random: they are predicted, not fitted. Counts only "
        "without a “Split”.") for item in TEST)  # fmt: skip
MOVED = tuple(
    replace(item, when={name: wanted for name, wanted in item.when.items() if name != "parameters"})
    for item in SAMPLING
    if item.name in ("moves", "metric", "walks")
)

DIMS = {"parameter": "parameters of the covariance and the noise"}
VARIABLES = (
    Variable("theta", ("parameter",), label="Covariance and noise", doc="logarithms of the parameters"),
    Variable(
        "log_density",
        label="Log density",
        doc="of the values and the parameters, the function integrated out",
    ),
)
TRACES = (
    Trace("log_density", "log density", hint="values and parameters; settles at a level", primary=True),
    Trace(
        "noise", "noise sd", hint="in units of the values; of several outputs the geometric mean", y_log=True
    ),
    Trace(
        "amplitude",
        "amplitude²",
        hint="variance of the function, of standardised values; of several outputs the mean",
        y_log=True,
    ),
)
FIT = {
    "values": "along_mean",
    "function": "along_function",
    "observation": "along_observation",
    "x": "along_x",
    "names": "along_names",
    "point_x": "point_x",
    "point_y": "point_y",
    "part": "point_part",
    "point_names": "point_names",
}
JUDGED = {
    "observed": "point_y",
    "predicted": "point_predicted",
    "interval": "point_interval",
    "part": "point_part",
    "names": "point_names",
}


MOST_OUTPUTS, _MANY = 16, 10_000


def _picture(
    title: str,
    factory: str,
    source: dict[str, str],
    headline: str,
    caption: str,
    group: str = "Predictions",
    columns: dict[str, tuple[int, int]] | None = None,
) -> View:
    return View(
        "picture",
        title,
        {**source, "headline": headline, "caption": caption},
        options={"factory": f"gp_regression.{factory}"},
        group=group,
        columns=columns or {},
    )


PREDICTED = (
    _picture("Predicted and observed", "observed", JUDGED, "headline", "point_note"),
    _picture("Residuals", "residuals", JUDGED, "residual_headline", "point_note"),
    _picture(
        "Calibration",
        "calibration",
        {"rank": "point_rank", "part": "point_part"},
        "calibration_headline",
        "calibration_note",
    ),
)
OF_OUTPUTS = (
    _picture(
        "Arrows",
        "arrows",
        {"values": "arrow_mean", "sd": "arrow_sd"},
        "headline",
        "surface_note",
        "Outputs",
        {"y": (2, 2), "X": (2, _MANY)},
    ),
    _picture(
        "Surface",
        "surface",
        {"values": "surface_mean", "sd": "surface_sd"},
        "headline",
        "surface_note",
        "Outputs",
        {"y": (2, MOST_OUTPUTS), "X": (2, _MANY)},
    ),
    _picture(
        "Correlations",
        "outputs",
        {"values": "correlation_functions", "noise": "correlation_noise"},
        "correlation_headline",
        "correlation_note",
        "Outputs",
        {"y": (2, MOST_OUTPUTS)},
    ),
)
VIEWS = (
    _picture("Fit along one input", "fit", FIT, "headline", "along_note", ""),
    *OF_OUTPUTS,
    *PREDICTED,
    View(
        "table",
        "Scores",
        {"values": "measures"},
        headline="headline",
        caption="measures_note",
        group="Predictions",
    ),
    View("table", "Table", {"values": "predictions"}, caption="prediction_note", group="Predictions"),
    View(
        "coefficients",
        "Relevance of the inputs",
        {"values": "relevance", "interval": "relevance_interval", "names": "relevance_names"},
        headline="relevance_headline",
        caption="relevance_note",
        options={"dim": "input", "signed": False},
        group="Covariance",
        columns=SEVERAL_INPUTS,
    ),
    View(
        "posterior",
        "Posterior and prior",
        {"values": "draws:theta", "x": "theta_x", "prior": "theta_prior", "names": "parameter"},
        options={"log": True, "dim": "parameter"},
        group="Covariance",
    ),
    View("table", "Parameters", {"values": "covariance"}, caption="covariance_note", group="Covariance"),
)

NOISE_ALONG = View(
    "picture",
    "Noise along one input",
    {
        "values": "noise_along",
        "interval": "noise_interval",
        "x": "along_x",
        "names": "along_names",
        "headline": "headline",
        "caption": "noise_note",
    },
    options={"factory": "gp_regression.noise"},
    when={"noise": "varying"},
)

REGRESSION = ModelSpec(
    id="gp_regression",
    version="1.0",
    title="Gaussian process regression",
    summary="A smooth function of a few inputs that explains a number, with its uncertainty and the noise around it.",
    tags=("regression", "Gaussian process"),
    inputs=(replace(X, most=(600, 30)), Y, GROUPS, SPLIT),
    hyperparameters=(
        *SHARED,
        NOISE_KIND,
        *NOISE,
        *(replace(item, when={"noise": "normal"}) for item in OUTPUTS),
        *SCALING,
        *SHARE,
        *MOVED,
    ),
    dims=DIMS
    | {"noise_shape": "numbers that shape the noise", "scaled": "fitted samples with a scale of their noise"},
    variables=(
        *VARIABLES,
        Variable(
            "shape",
            ("noise_shape",),
            label="Shape of the noise",
            doc="degrees of freedom of heavy tails, or weights of its logarithm at places among the inputs; none of normal noise",
        ),
        Variable(
            "scale", ("scaled",), label="Scales of the noise", doc="of heavy tails: of each sample's variance"
        ),
    ),
    traces=(
        *TRACES,
        Trace("degrees", "degrees of freedom", hint="of heavy tails; few: far-off values", y_log=True),
        Trace("accepted", "steps", kind="acceptance"),
    ),
    views=(VIEWS[0], NOISE_ALONG, *VIEWS[1:]),
    schedule=Schedule(chains=4, warmup=200, draws=250),
    citation=RASMUSSEN,
)

FORM = tuple(
    replace(
        item,
        advanced=False,
        group="Search",
        choices=(
            Choice(value="auto", label="Automatic", doc="Dense up to 2,000 samples, inducing points above."),
            Choice(value="dense", label="Dense", doc="Exact; cost grows with the cube of the samples."),
            Choice(
                value="inducing",
                label="Inducing points",
                doc="A lower bound of the evidence, for up to 100,000 samples.",
            ),
        ),
    )
    if item.name == "form"
    else replace(
        item,
        default=200,
        group="Search",
        doc="Their number, where the computation takes them. What they miss counts as noise.",
    )
    for item in SAMPLING
    if item.name in ("form", "inducing")
)
ASCENT = (
    Hyperparameter(
        "starts",
        "int",
        3,
        label="Starts",
        group="Search",
        doc="From the middle of the prior, and from draws of it.",
        minimum=1,
        maximum=50,
    ),
    Hyperparameter(
        "raised",
        "choice",
        "posterior",
        label="What is maximised",
        group="Search",
        doc="What the search for amplitude, lengths and noise makes as large as it can.",
        choices=(
            Choice(value="posterior", label="Posterior density", doc="Of the logarithms of the parameters."),
            Choice(
                value="evidence",
                label="Evidence",
                doc="Without a prior, as other programs do; may overfit with many inputs.",
            ),
        ),
    ),
)

QUICK = ModelSpec(
    id="gp_quick_regression",
    version="1.0",
    title="Gaussian process regression, quick look",
    summary="The same function in a second or two, at the best parameters alone; their own uncertainty is left out.",
    tags=("regression", "Gaussian process", "optimisation"),
    algorithm="optimise",
    inputs=(replace(X, most=(10_000, 30)), Y, GROUPS, SPLIT),
    hyperparameters=(
        *SHARED,
        *NOISE,
        *(replace(item, when={"form": ("auto", "dense")}) for item in OUTPUTS),
        *SCALING,
        *SHARE,
        *ASCENT,
        *FORM,
    ),
    dims=DIMS | {"start": "starts of the search"},
    variables=(
        *VARIABLES,
        Variable("optima", ("start", "parameter"), label="Optima"),
        Variable("tops", ("start",), label="Objective at the optima"),
    ),
    traces=(
        Trace("log_density", "log density", hint="the best so far; never falls", goal="up", primary=True),
        *TRACES[1:],
        Trace("left", "starts left", hint="the search ends when none is left", kind="count"),
    ),
    views=(
        *(view for view in VIEWS if view.kind != "posterior"),
        View("table", "Optima", {"values": "optima"}, caption="optima_note", group="Covariance"),
        View(
            "table",
            "Inducing points",
            {"values": "points"},
            caption="points_note",
            group="Covariance",
            when={"form": ("auto", "inducing")},
        ),
    ),
    schedule=Schedule(chains=2, max_sweeps=3000),
    citation=RASMUSSEN,
)
