"""What the model declares: data, settings, what is kept, traces and pictures."""

from __future__ import annotations

from plaidwork.core.api import Choice, Hyperparameter, Input, ModelSpec, Schedule, Trace, Variable, View
from plaidwork_lcms_annotation.adducts import FORM, NEGATIVE, POSITIVE

SUMMARY = (
    "Which of the listed formulas explain the peaks of an LC-MS run, with their adducts and isotopes. Peaks that belong to one "
    "compound share its time and the heights of its isotopes; what no formula explains is background."
)
HELP = f"""\
A peak is background, or it belongs to a *cluster*: one occurrence of one formula in the run. Each peak of a cluster is one
ion of that formula: an adduct and an isotope. Its mass lies near the theory, its time near that of the cluster, and isotopes of one
adduct stand in the ratios of theory, while adducts may have any height.

**What the list decides.** Confidence is relative to the list. A compound that is not listed can only be background, or be taken
for a neighbour. Compounds with one formula cannot be told apart by mass, time and isotopes, so all their names are given.

**Levels.** Level *j* is the probability that some cluster of the formula has at least *j* different ions. Level 1 is little more than a
mass that fits; level 2 is what the table is ordered by. *Combined* is the mean of the levels 1 to 5.

**What it does not say.** Two peaks may be the same ion (a peak that was split), and an ion that ought to be visible and is missing
costs nothing.

**Adducts** are written one after the other with semicolons between: {FORM}; for instance `M+H-H2O, 1, 1, H, H2O`. An adduct that
removes atoms which a formula lacks does not exist for it.

**Replicates** are further columns mz.2, rt.2, intensity.2 and so on, in a row for each set of peaks; gaps are left empty.
"""
GIVEN, INFERRED = "given", "inferred"

HYPERPARAMETERS = (
    Hyperparameter(
        "polarity", "choice", "positive", label="Polarity", group="Ions",
        choices=(Choice(value="positive", label="Positive"), Choice(value="negative", label="Negative")),
        doc="Which of the two lists of adducts is used.",
    ),
    Hyperparameter(
        "adducts_positive", "text", POSITIVE, label="Adducts", group="Ions", when={"polarity": "positive"},
        doc=f"Each as {FORM}; semicolons between.",
    ),
    Hyperparameter(
        "adducts_negative", "text", NEGATIVE, label="Adducts", group="Ions", when={"polarity": "negative"},
        doc=f"Each as {FORM}; semicolons between.",
    ),
    Hyperparameter(
        "top", "int", 3, label="Isotopes up to M +", group="Ions", minimum=0, maximum=8,
        doc="Largest excess in nominal mass; isotopes below a thousandth of the largest of their adduct are left out.",
    ),
    Hyperparameter(
        "ppm", "float", 1.5, label="Error of mass", unit="ppm", group="Errors", minimum=0.01, maximum=1000, log=True,
        doc="Standard deviation; what lies further off than four of them is not the ion.",
    ),
    Hyperparameter(
        "rt_sd", "float", 2.0, label="Error of time", unit="s", group="Errors", minimum=0.01, maximum=1000, log=True,
        doc="Standard deviation of the times of the ions of one compound.",
    ),
    Hyperparameter(
        "ratio_sd", "float", 0.25, label="Error of isotope ratios", unit="log intensity", group="Errors",
        minimum=0.01, maximum=5, log=True, doc="Standard deviation of a log intensity around theory: 0.25 is about a quarter.",
    ),
    Hyperparameter(
        "scales", "choice", GIVEN, label="Errors are", group="Errors",
        choices=(
            Choice(value=GIVEN, label="As set"),
            Choice(value=INFERRED, label="Inferred", doc="from the data, near what is set, with a bias that all masses share"),
        ),
        doc="Inferred errors need some ten compounds that are surely there.",
    ),
    Hyperparameter(
        "rates", "choice", INFERRED, label="Share of background and alpha are", group="How much is explained",
        choices=(Choice(value=GIVEN, label="As set"), Choice(value=INFERRED, label="Inferred")),
        doc="Inferred with priors Beta(3, 7) and Gamma(2, 0.2).",
    ),
    Hyperparameter(
        "background", "float", 0.3, label="Share of background", group="How much is explained", unit="share",
        minimum=1e-6, maximum=1 - 1e-6, doc="Prior probability that a peak is background; where inferred, where it starts.",
    ),
    Hyperparameter(
        "alpha", "float", 5.0, label="Alpha", group="How much is explained", minimum=1e-3, maximum=1e5, log=True,
        doc="About alpha log(1 + n / alpha) clusters are expected of n peaks; where inferred, where it starts.",
    ),
    Hyperparameter(
        "mz_low", "float", 80.0, label="Lowest m/z", group="Instrument", minimum=1, maximum=1e5,
        doc="Range of the instrument: ions outside are never seen, background is spread evenly within.",
    ),
    Hyperparameter("mz_high", "float", 1000.0, label="Highest m/z", group="Instrument", minimum=1, maximum=1e5),
    Hyperparameter(
        "priors", "choice", "data", label="Run and heights", group="Instrument", advanced=True,
        choices=(Choice(value="data", label="From the data"), Choice(value=GIVEN, label="As set")),
        doc="Length of the run, mean and spread of log intensities.",
    ),
    Hyperparameter(
        "run_start", "float", 0.0, label="Start of the run", unit="s", group="Instrument", minimum=0, maximum=1e6,
        advanced=True, when={"priors": GIVEN},
    ),
    Hyperparameter(
        "run_end", "float", 1200.0, label="End of the run", unit="s", group="Instrument", minimum=0, maximum=1e6,
        advanced=True, when={"priors": GIVEN},
    ),
    Hyperparameter(
        "level", "float", 11.0, label="Mean log intensity", group="Instrument", minimum=-100, maximum=100,
        advanced=True, when={"priors": GIVEN},
    ),
    Hyperparameter(
        "level_spread", "float", 3.0, label="Spread of log intensities", group="Instrument", minimum=0.01, maximum=100,
        advanced=True, when={"priors": GIVEN},
    ),
)  # fmt: skip

RAGGED = ("assigned",)
VARIABLES = (
    Variable("assigned_peak", RAGGED, "count", ragged=True, label="Peaks that are not background"),
    Variable("assigned_cluster", RAGGED, "count", ragged=True, label="Their clusters"),
    Variable(
        "assigned_position", RAGGED, "count", ragged=True, label="Their ions",
        doc="Numbered by formula as listed, adduct and isotope; the result “ions” names them.",
    ),
    Variable("n_clusters", dtype="int", label="Clusters"),
    Variable("n_background", dtype="int", label="Background peaks"),
    Variable("alpha", label="Alpha"),
    Variable("share", label="Share of background"),
    Variable("scales", ("scale",), label="Errors of mass (ppm), time (s), log ratio, and the bias of all masses (ppm)"),
)  # fmt: skip
TRACES = (
    Trace(
        "log_joint", "log joint density", hint="clusters, formulas, ions and data; heights and times integrated out",
        goal="up", primary=True,
    ),
    Trace("n_clusters", "clusters", kind="count"),
    Trace("n_background", "background peaks", kind="count"),
    Trace("moved", "peaks that moved", hint="share that changed in a sweep", kind="share"),
    Trace("blocks_moved", "adducts that moved", hint="share of the moves of all peaks of one adduct that changed something", kind="share"),
    Trace("alpha", hint="higher means more clusters"),
    Trace("share", "share of background", kind="share"),
    Trace("ppm", "error of mass", unit="ppm"),
    Trace("rt_sd", "error of time", unit="s"),
    Trace("ratio_sd", "error of log ratios"),
    Trace("bias", "bias of all masses", unit="ppm"),
)  # fmt: skip
VIEWS = (
    View("table", "Formulas", "formulas", headline="headline", caption="formulas_caption"),
    View(
        "picture", "Compound against theory", "typical_ion", options={"factory": "lcms_annotation.spectrum"}
    ),
    View("picture", "Map", "typical_ion", options={"factory": "lcms_annotation.map"}),
    View("table", "Peaks", "peaks_table", headline="peaks_headline", caption="peaks_caption"),
    View(
        "heatmap",
        "Adducts",
        {"values": "adduct_probability", "row_names": "shown_formula", "column_names": "adduct"},
        headline="headline",
        caption="adducts_caption",
        options={"scale": "sequential", "minimum": 0, "maximum": 1, "cluster": False},
    ),
    View("picture", "Errors", "typical_ion", options={"factory": "lcms_annotation.errors"}),
)

SPEC = ModelSpec(
    id="lcms_annotation",
    version="0.1.0",
    title="Annotation of LC-MS peaks",
    summary=SUMMARY,
    tags=("metabolomics", "mass spectrometry", "clusters"),
    inputs=(
        Input(
            "peaks", dims=("peak", "measure"), label="Peaks", missing=True, samples="peak",
            doc="A row for each peak with columns mz, rt (s) and intensity; replicates as mz.2, rt.2, intensity.2.",
        ),
        Input(
            "formulas", "labels", "categorical", dims=("compound",), label="Formulas",
            doc="Neutral molecular formulas such as C6H12O6, by the names of their compounds.",
        ),
        Input(
            "weights", "vector", dims=("compound",), label="Weights of the compounds", required=False,
            doc="How likely each compound is before the data are seen, relative to the others.",
        ),
    ),
    hyperparameters=HYPERPARAMETERS,
    dims={"assigned": "peaks of a draw that are not background", "scale": "errors of mass, time and ratios, and the bias of masses"},
    variables=VARIABLES,
    traces=TRACES,
    views=VIEWS,
    schedule=Schedule(chains=4, warmup=100, draws=250, thin=2),
    citation=(
        "The structure follows Daly, Rogers, Wandy, Jankevics, Burgess, Breitling (2014), MetAssign: probabilistic annotation of metabolites "
        "from LC-MS data using a Bayesian clustering approach, Bioinformatics 30, 2764-2771; model and sampler are other ones. "
        "Isotopes: NIST, Atomic Weights and Isotopic Compositions with Relative Atomic Masses."
    ),
    help=HELP,
)  # fmt: skip
