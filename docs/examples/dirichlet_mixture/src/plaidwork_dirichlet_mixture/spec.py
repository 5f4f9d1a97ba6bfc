"""What the model declares: data, settings, what is kept, traces and pictures."""

from __future__ import annotations

from plaidwork.core.api import Choice, Hyperparameter, Input, ModelSpec, Schedule, Trace, Variable, View

SUMMARY = (
    "Groups of similar items. How many groups there are is inferred, and so is how sure each item's place is. "
    "Every group is a normal law with a centre and a spread of its own."
)
HELP = """\
Every item belongs to one cluster. Clusters are normal, with mean and covariance of their own, which are integrated
out. Their number follows from a Dirichlet process: item *n + 1* opens a new cluster with probability
*alpha / (alpha + n)*.

**Which form?** *Diagonal* treats the columns as independent within a cluster: right for many columns or few items,
and the only one that takes missing cells. *Full* lets columns correlate: right for few columns (up to about 20) and
clusters with many more items than columns.

**What decides the number of clusters** is less *alpha* than *Spread within a cluster*: the smaller it is, the finer the
clusters. It is a variance as a share of the variance of the whole column (when columns are standardised).

**How a point clustering is found.** Clusters have no names from one draw to the next, so draws are compared as
partitions. The clustering shown has the least expected variation of information to all draws; the *credible ball* says
how far 95 % of the draws are at most from it, in bits (0 is equal, log2 of the number of items the most).
*Certainty* of a cluster is the mean probability of two of its members to be together.
"""

HYPERPARAMETERS = (
    Hyperparameter(
        "covariance",
        "choice",
        "full",
        label="Shape of a cluster",
        group="Clusters",
        choices=(
            Choice(value="full", label="Full", doc="columns may correlate; no missing cells"),
            Choice(value="diagonal", label="Diagonal", doc="columns are independent within a cluster"),
        ),
        doc="Covariance of a cluster.",
    ),
    Hyperparameter(
        "within",
        "float",
        0.2,
        label="Spread within a cluster",
        group="Clusters",
        unit="variance",
        minimum=1e-6,
        maximum=1e6,
        log=True,
        doc="Prior mean of a column's variance within a cluster; 1 is the whole column's when columns are standardised.",
    ),
    Hyperparameter(
        "within_weight",
        "float",
        3.0,
        label="Weight of that spread",
        group="Clusters",
        minimum=0.01,
        maximum=1e6,
        log=True,
        advanced=True,
        doc="How many items the prior spread counts for; small lets clusters differ in size and shape.",
    ),
    Hyperparameter(
        "mean_weight",
        "float",
        0.1,
        label="Weight of the common centre",
        group="Clusters",
        minimum=1e-6,
        maximum=1e6,
        log=True,
        advanced=True,
        doc="How many items the centre of the data counts for in a cluster's mean: variance within / between clusters.",
    ),
    Hyperparameter(
        "standardise",
        "bool",
        True,
        label="Standardise columns",
        group="Data",
        doc="Centre 0 and variance 1 for every column while fitting; results are in the unit of the data.",
    ),
    Hyperparameter(
        "learn_alpha",
        "bool",
        True,
        label="Learn alpha",
        group="Number of clusters",
        doc="Infer the concentration alpha with the rest.",
    ),
    Hyperparameter(
        "alpha",
        "float",
        1.0,
        label="Alpha",
        group="Number of clusters",
        minimum=1e-6,
        maximum=1e4,
        log=True,
        when={"learn_alpha": False},
        doc="Concentration; about alpha log(1 + n / alpha) clusters are expected.",
    ),
    Hyperparameter(
        "alpha_shape",
        "float",
        2.0,
        label="Shape of alpha's prior",
        group="Number of clusters",
        minimum=0.1,
        maximum=1e4,
        advanced=True,
        when={"learn_alpha": True},
        doc="Gamma prior of alpha, with mean shape / rate.",
    ),
    Hyperparameter(
        "alpha_rate",
        "float",
        2.0,
        label="Rate of alpha's prior",
        group="Number of clusters",
        minimum=1e-3,
        maximum=1e4,
        advanced=True,
        when={"learn_alpha": True},
    ),
    Hyperparameter(
        "split_merge",
        "int",
        3,
        label="Split-merge moves",
        group="Moves",
        minimum=0,
        maximum=1000,
        advanced=True,
        doc="Tries per sweep to split a cluster or to merge two; they cross between clusterings that single items cannot.",
    ),
    Hyperparameter(
        "launch_scans",
        "int",
        2,
        label="Scans before a split",
        group="Moves",
        minimum=0,
        maximum=100,
        advanced=True,
        doc="Restricted Gibbs scans that improve a proposed split before it is judged.",
    ),
    Hyperparameter(
        "start",
        "choice",
        "sequential",
        label="Start from",
        group="Moves",
        advanced=True,
        choices=(
            Choice(
                value="sequential", label="One item after the other", doc="each drawn given those before it"
            ),
            Choice(value="together", label="One cluster"),
        ),
    ),
)

SPEC = ModelSpec(
    id="dirichlet_mixture",
    version="0.1.0",
    title="Dirichlet-process mixture",
    summary=SUMMARY,
    tags=("clusters", "mixture", "nonparametric"),
    inputs=(
        Input(
            "X",
            dims=("item", "feature"),
            label="Matrix",
            missing=True,
            doc="Items to be grouped in rows, what is measured in columns. Missing cells need the diagonal form.",
        ),
    ),
    hyperparameters=HYPERPARAMETERS,
    dims={"cluster": "clusters of one draw, in the order of their first items"},
    variables=(
        Variable("cluster_of", ("item",), "int", label="Cluster of each item"),
        Variable("n_clusters", dtype="int", label="Clusters"),
        Variable("alpha", label="Alpha"),
        Variable("sizes", ("cluster",), "int", ragged=True, label="Cluster sizes"),
        Variable(
            "means",
            ("cluster", "feature"),
            ragged=True,
            label="Cluster means",
            doc="In the unit of the data.",
        ),
    ),
    traces=(
        Trace(
            "log_joint",
            "log joint density",
            hint="clustering, alpha and data; parameters integrated out",
            goal="up",
            primary=True,
        ),
        Trace("n_clusters", "clusters", kind="count"),
        Trace("alpha", hint="higher means more clusters"),
        Trace("largest", "largest cluster", hint="share of the items", kind="share"),
        Trace("moved", "items that moved", hint="share that changed their cluster in a sweep", kind="share"),
        Trace("accepted", "split-merge moves", kind="acceptance"),
    ),
    views=(
        View(
            "heatmap",
            "Similarity",
            "similarity",
            headline="headline",
            caption="similarity_caption",
            options={"scale": "sequential", "minimum": 0, "maximum": 1},
        ),
        View("table", "Clusters", "clusters", headline="headline", caption="caption"),
        View("table", "Items", "assignments", caption="assignments_caption"),
        View(
            "heatmap",
            "Cluster means",
            "profile",
            caption="profile_caption",
            options={"scale": "diverging"},
        ),
        View("table", "Means in detail", "centres", caption="centres_caption"),
        View(
            "bars",
            "Number of clusters",
            {"values": "number_probability", "x": "number"},
            headline="number_headline",
            options={"x_label": "clusters", "y_label": "probability"},
        ),
    ),
    state_version=2,
    schedule=Schedule(chains=4, warmup=200, draws=500, thin=2),
    citation=(
        "Neal (2000), Markov chain sampling methods for Dirichlet process mixture models, JCGS 9, 249-265. "
        "Jain and Neal (2004), A split-merge Markov chain Monte Carlo procedure for the Dirichlet process mixture "
        "model, JCGS 13, 158-182. Dahl (2005), Sequentially-allocated merge-split sampler for conjugate and nonconjugate "
        "Dirichlet process mixture models, technical report. Escobar and West (1995), Bayesian density estimation and inference using mixtures, "
        "JASA 90, 577-588. Wade and Ghahramani (2018), Bayesian cluster analysis: point estimation and credible "
        "balls, Bayesian Analysis 13, 559-626."
    ),
    help=HELP,
)
