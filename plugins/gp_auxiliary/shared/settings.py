"""Settings shared by the Gaussian process models, and those of each."""

from __future__ import annotations

from dataclasses import replace

from plaidwork.core.api import Choice, Hyperparameter

_STATIONARY = ("rbf", "matern12", "matern32", "matern52", "rational_quadratic")

COVARIANCE = (
    Hyperparameter(
        "covariance",
        "choice",
        "rbf",
        label="Covariance",
        group="Covariance",
        doc="How alike two samples are, and so how smooth the boundary may be.",
        choices=(
            Choice(value="rbf", label="Squared exponential", doc="exp(-γ r² / 2): very smooth."),
            Choice(value="matern12", label="Matérn 1/2", doc="exp(-r): rough."),
            Choice(value="matern32", label="Matérn 3/2"),
            Choice(value="matern52", label="Matérn 5/2"),
            Choice(value="rational_quadratic", label="Rational quadratic", doc="Several lengths at once."),
            Choice(value="linear", label="Linear", doc="A straight boundary."),
            Choice(value="polynomial", label="Polynomial"),
            Choice(value="expression", label="Sum or product", doc="Terms joined by + and *."),
        ),
    ),
    Hyperparameter(
        "expression",
        "text",
        "rbf(ard) + linear",
        label="Sum or product",
        group="Covariance",
        doc="Terms joined by + and *, such as rbf(ard) + linear * constant; (ard) gives every input its own length, mean linear is "
        "linear divided by the number of inputs.",
        when={"covariance": "expression"},
    ),
    Hyperparameter(
        "ard",
        "bool",
        False,
        label="A length per input",
        group="Covariance",
        doc="Finds out which inputs matter (automatic relevance determination).",
        when={"covariance": _STATIONARY},
    ),
    Hyperparameter(
        "degree",
        "int",
        2,
        label="Degree",
        group="Covariance",
        doc="Highest power of the inputs in polynomial terms: 2 bends once, 3 twice.",
        minimum=1,
        maximum=6,
        when={"covariance": ("polynomial", "expression")},
    ),
    Hyperparameter(
        "intercept",
        "bool",
        True,
        label="Intercept",
        group="Covariance",
        doc="A constant is added to f, for classes of unequal size. In a sum write + constant.",
        when={"covariance": (*_STATIONARY, "linear", "polynomial")},
    ),
    Hyperparameter(
        "parameters",
        "choice",
        "inferred",
        label="Its parameters",
        group="Covariance",
        doc="Whether amplitude and lengths are learned from the data, with their uncertainty, or kept as you set them.",
        choices=(
            Choice(value="inferred", label="Inferred", doc="Drawn along with the rest."),
            Choice(value="fixed", label="Fixed", doc="As given below."),
        ),
    ),
    Hyperparameter(
        "amplitude",
        "float",
        4.0,
        label="Amplitude²",
        group="Covariance",
        doc="Variance of f; the middle of its prior when it is inferred.",
        minimum=0.0,
        open_minimum=True,
        maximum=1e6,
        log=True,
    ),
    Hyperparameter(
        "gamma",
        "float",
        0.0,
        label="γ = 1 / length²",
        group="Covariance",
        doc="0: one over the number of inputs. The middle of its prior when it is inferred.",
        minimum=0.0,
        maximum=1e6,
        log=True,
        when={"covariance": (*_STATIONARY, "polynomial", "expression")},
    ),
    Hyperparameter(
        "amplitude_sd",
        "float",
        1.5,
        label="Width of the amplitudes' prior",
        group="Covariance",
        doc="Standard deviation of the logarithm of each amplitude² and bias: 1.5 is a factor of 12 either way, at 90 %.",
        minimum=0.01,
        maximum=20.0,
        advanced=True,
        when={"parameters": "inferred"},
    ),
    Hyperparameter(
        "gamma_sd",
        "float",
        1.5,
        label="Width of the prior of γ",
        group="Covariance",
        doc="Standard deviation of its logarithm. Wider where each input has a length and many may not matter, as 3.",
        minimum=0.01,
        maximum=20.0,
        advanced=True,
        when={"parameters": "inferred", "covariance": (*_STATIONARY, "polynomial", "expression")},
    ),
    Hyperparameter(
        "standardise",
        "bool",
        True,
        label="Standardise inputs",
        group="Inputs",
        doc="Every input is brought to mean 0 and sd 1 of the fitted samples.",
    ),
)

_CHOSEN = Choice(
    value="chosen",
    label="Chosen from the data",
    doc="The best of five: a linear part, a squared exponential with one length or one per input (up to 100 inputs), and either with a linear "
    "part, by the evidence in the fitted samples, among those that predict labels which are left out.",
)
CHOOSING = (
    Hyperparameter(
        "linear_alone",
        "bool",
        True,
        earlier=False,
        label="Try a linear part alone",
        group="Covariance",
        doc="Whether a linear part without a squared exponential is among what is chosen from: straight boundaries, which go on as they are "
        "beyond the samples.",
        advanced=True,
        when={"covariance": "chosen"},
    ),
    Hyperparameter(
        "by_left_out",
        "bool",
        True,
        earlier=False,
        label="Choose among those that predict",
        group="Covariance",
        doc="Only sums are chosen from that predict labels which are left out within 2 nats of the best: the evidence alone "
        "prefers few parameters, also where they predict less well.",
        advanced=True,
        when={"covariance": "chosen"},
    ),
    Hyperparameter(
        "chosen_by",
        "choice",
        "propagation",
        earlier="variational",
        label="Evidence of the choice",
        group="Covariance",
        doc="How the evidence of each sum, and labels that are left out, are worked out before the first draw.",
        choices=(
            Choice(
                value="propagation",
                label="Expectation propagation",
                doc="Close to what the sampler says; labels are left out one at a time. At most 200 samples, fewer of more than three classes.",
            ),
            Choice(
                value="variational",
                label="Bound of the quick model",
                doc="Below the evidence, most so of functions that change much; labels are left out in five parts. At most 300 samples.",
            ),
        ),
        advanced=True,
        when={"covariance": "chosen"},
    ),
)
"""What is chosen from, for models whose covariance can be chosen from the data."""


def with_choice(item: Hyperparameter) -> Hyperparameter:
    """The setting in models whose covariance can be chosen from the data."""
    if item.name == "covariance":
        return replace(item, default="chosen", choices=(_CHOSEN, *item.choices))
    if item.name in ("gamma", "gamma_sd"):
        return replace(item, when={**item.when, "covariance": (*item.when["covariance"], "chosen")})
    return item


TEST = (
    Hyperparameter(
        "test_share",
        "float",
        0.0,
        label="Share for the test",
        group="Inputs",
        doc="Of the labelled samples of each class, drawn at random: they are predicted, not fitted. Counts only "
        "without a “Split”.",
        minimum=0.0,
        maximum=0.9,
    ),
)

STARTS = (
    Hyperparameter(
        "start_spread",
        "float",
        0.5,
        earlier=0.0,
        label="Spread of the starts",
        group="Sampling",
        doc="How far from the mean of their prior the covariance parameters of further restarts begin, in standard deviations of "
        "that prior; the first restart begins at the mean. With 0 all begin alike, and several find nothing else.",
        advanced=True,
        minimum=0.0,
        maximum=3.0,
        when={"parameters": "inferred"},
    ),
)
"""Where restarts of the approximation begin."""

SAMPLING = (
    Hyperparameter(
        "form",
        "choice",
        "auto",
        label="Computation",
        group="Sampling",
        doc="How f is computed: exactly, or through a few inducing points, which large data need.",
        advanced=True,
        choices=(
            Choice(value="auto", label="Automatic", doc="Dense up to 2000 samples, inducing points above."),
            Choice(value="dense", label="Dense", doc="Exact; cost grows with the square of the samples."),
            Choice(value="inducing", label="Inducing points", doc="Approximate (FITC), for many samples."),
        ),
    ),
    Hyperparameter(
        "inducing",
        "int",
        100,
        label="Inducing points",
        group="Sampling",
        doc="Their number, where the computation takes them.",
        advanced=True,
        minimum=2,
        maximum=2000,
        when={"form": ("auto", "inducing")},
    ),
    Hyperparameter(
        "site_sweeps",
        "int",
        5,
        label="Site sweeps a draw",
        group="Sampling",
        doc="Sweeps over the auxiliary variables between two updates of the covariance, where f is not moved as a whole.",
        advanced=True,
        minimum=1,
        maximum=100,
    ),
    Hyperparameter(
        "moves",
        "choice",
        "hamiltonian",
        earlier="walk",
        label="Moves of the covariance",
        group="Sampling",
        doc="How amplitude and lengths are drawn. Trajectories along the gradient mix several times faster than a random walk.",
        advanced=True,
        choices=(
            Choice(
                value="hamiltonian",
                label="Hamiltonian",
                doc="All parameters together, along the gradient, one trajectory a draw.",
            ),
            Choice(value="walk", label="Random walk", doc="One parameter at a time."),
        ),
        when={"parameters": "inferred"},
    ),
    Hyperparameter(
        "metric",
        "choice",
        "draws",
        earlier="mode",
        label="Metric of the trajectories",
        group="Sampling",
        doc="What tells the trajectories how far to go in each direction.",
        advanced=True,
        choices=(
            Choice(
                value="draws",
                label="Draws of the warm-up",
                doc="Their covariance, over windows that grow; the curvature at a mode before there are enough.",
            ),
            Choice(
                value="mode",
                label="Curvature at a mode",
                doc="As it is for the values of one sweep of the warm-up.",
            ),
        ),
        when={"parameters": "inferred", "moves": "hamiltonian"},
    ),
    Hyperparameter(
        "walks",
        "int",
        2,
        label="Random-walk steps a draw",
        group="Sampling",
        doc="Tries to move each parameter between two draws; more of them mix better and take longer.",
        advanced=True,
        minimum=1,
        maximum=100,
        when={"parameters": "inferred", "moves": "walk"},
    ),
)

MOVES = (
    Hyperparameter(
        "trajectories",
        "int",
        1,
        label="Trajectories a draw",
        group="Sampling",
        doc="Moves of f between two updates of the covariance, where f is moved as a whole: ordered classes; two classes, "
        "but not beside a random walk of the covariance.",
        advanced=True,
        minimum=1,
        maximum=100,
    ),
)

STRETCH = (
    Hyperparameter(
        "stretch",
        "choice",
        "trajectories",
        earlier="whole",
        label="Stretches of f",
        group="Sampling",
        doc="Moves of f and the covariance together, in every draw.",
        advanced=True,
        choices=(
            Choice(
                value="trajectories",
                label="Trajectories",
                doc="Every summand of f with all amplitudes, and the lengths in between, of two to ten classes and up to 400 samples; "
                "else as “Each summand”.",
            ),
            Choice(
                value="summands",
                label="Each summand",
                doc="Every summand of f with its amplitude, up to 800 samples; f as a whole with more.",
            ),
            Choice(value="whole", label="The whole", doc="All at once, and not of two classes."),
        ),
        when={"parameters": "inferred", "moves": "hamiltonian"},
    ),
)

TOGETHER = (
    Hyperparameter(
        "stretch",
        "choice",
        "together",
        earlier="none",
        label="Stretches of f",
        group="Sampling",
        doc="A move of f, the amplitudes of the covariance and the cut-points together, once a draw.",
        advanced=True,
        choices=(
            Choice(value="together", label="With amplitudes and cut-points"),
            Choice(value="none", label="None"),
        ),
        when={"parameters": "inferred"},
    ),
)

CUT_MOVES = (
    Hyperparameter(
        "cut_moves",
        "choice",
        "followed",
        earlier="alone",
        label="Moves of cut-points",
        group="Sampling",
        doc="Given f the ends of a class with few samples hardly move; with f following they do.",
        advanced=True,
        choices=(
            Choice(value="followed", label="With f following", doc="Also alone."),
            Choice(value="alone", label="Alone", doc="Given f."),
        ),
        when={"cut_points": "inferred"},
    ),
)

NULL = (
    Hyperparameter(
        "null_width",
        "float",
        2.0,
        label="Half width of the null category",
        group="Unlabelled samples",
        doc="In units of the noise; wider pushes the boundary harder into empty space. 0: they teach nothing.",
        minimum=0.0,
        maximum=10.0,
    ),
    Hyperparameter(
        "rungs",
        "int",
        10,
        label="Rungs of the ladder",
        group="Unlabelled samples",
        doc="Copies of the chain with null categories from width 0 up, which swap places: without them a chain stays "
        "in the grouping it happens to find first. 1: a single copy, exploratory.",
        minimum=1,
        maximum=64,
    ),
    Hyperparameter(
        "given_widths",
        "text",
        "",
        label="Widths of the copies",
        group="Unlabelled samples",
        doc="Half widths from the lowest copy up, with commas between, the last being the half width above. Empty: as many as there "
        "are rungs, spaced in the warm-up.",
        advanced=True,
    ),
    Hyperparameter(
        "slices",
        "int",
        2,
        label="Elliptical slices a draw",
        group="Unlabelled samples",
        doc="Moves of f of every copy between two swaps, with four classes or more, a low-rank computation, or no trajectories.",
        advanced=True,
        minimum=0,
        maximum=100,
    ),
    Hyperparameter(
        "trajectories",
        "int",
        1,
        earlier=0,
        label="Trajectories a draw",
        group="Unlabelled samples",
        doc="Hamiltonian moves of f of every copy between two swaps, for two or three classes. 0: elliptical slices.",
        advanced=True,
        minimum=0,
        maximum=100,
    ),
    Hyperparameter(
        "rounds",
        "int",
        16,
        earlier=1,
        label="Swaps a draw",
        group="Unlabelled samples",
        doc="How often between two draws neighbouring copies try to swap places, the trajectories of every copy before each. Of three "
        "classes half as often, as they cost more.",
        advanced=True,
        minimum=1,
        maximum=100,
        when={"form": ("auto", "dense")},
    ),
    Hyperparameter(
        "of_three",
        "choice",
        "trajectories",
        earlier="slices",
        label="Moves of three classes",
        group="Unlabelled samples",
        doc="How f of every copy moves between two swaps where there are three classes.",
        advanced=True,
        when={"parameters": "fixed"},
        choices=(
            Choice(
                value="trajectories",
                label="Trajectories",
                doc="Hamiltonian, as of two classes.",
            ),
            Choice(
                value="slices",
                label="Elliptical slices",
                doc="As with more classes, and one round of swaps a draw.",
            ),
        ),
    ),
    Hyperparameter(
        "classes",
        "choice",
        "all",
        earlier="labelled",
        label="Classes without a label",
        group="Unlabelled samples",
        doc="Classes that “Classes to score by” names of unlabelled samples, and that no labelled sample has.",
        choices=(
            Choice(
                value="all",
                label="Kept",
                doc="Classes like the others. Their names are taken, not who is of them.",
            ),
            Choice(value="labelled", label="Left out", doc="Their samples are not scored."),
        ),
        advanced=True,
    ),
    Hyperparameter(
        "shares",
        "choice",
        "equal",
        label="Missing labels",
        group="Unlabelled samples",
        doc="Whether samples without a label are taken to be equally often of each class, or the shares are learned too.",
        choices=(
            Choice(value="equal", label="Equally often in all classes"),
            Choice(value="inferred", label="Share per class inferred"),
        ),
    ),
)
