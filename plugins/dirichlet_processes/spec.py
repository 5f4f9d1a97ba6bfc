"""What the model declares: inputs, variables, traces and views."""

from __future__ import annotations

from plaidwork.core.api import Input, ModelSpec, Schedule, Trace, Variable, View
from plaidwork.plugins.dirichlet_processes.settings import ALPHA, SETTINGS

CITATION = """\
Neal, R. M. (2000). Markov chain sampling methods for Dirichlet process mixture models. Journal of Computational and Graphical Statistics 9, 249-265.
Jain, S. and Neal, R. M. (2004). A split-merge Markov chain Monte Carlo procedure for the Dirichlet process mixture model. Journal of Computational and Graphical Statistics 13, 158-182.
Dahl, D. B. (2005). Sequentially-allocated merge-split sampler for conjugate and nonconjugate Dirichlet process mixture models. Technical report.
Miller, J. W. and Harrison, M. T. (2018). Mixture models with a prior on the number of components. Journal of the American Statistical Association 113, 340-356.
Wade, S. and Ghahramani, Z. (2018). Bayesian cluster analysis: point estimation and credible balls. Bayesian Analysis 13, 559-626."""

HELP = """\
Every sample belongs to one cluster. Numbers are normal, categories have shares, counts are Poisson or share a total, each with parameters of the cluster's own,
which are integrated out. All matrices share the clusters.

**Correlated or independent columns?** The columns of a matrix of numbers may be *correlated within a cluster*: every cluster has a full covariance
matrix, and an oblique cloud is one cluster. With many columns such a matrix has too many numbers to learn; columns that are *independent
within a cluster* need far fewer, but a long oblique cloud is then split into several clusters. Which of the two is
judged by the data where nobody says: whether columns still go together within groups of similar samples. Categories and counts are always independent.

**Poisson counts or counts that share a total?** Where every sample has a total that says nothing, as the length of a document or the depth of
a sequenced sample, take counts as sharing it (*multinomial*): clusters then differ in the shares of the columns. Poisson counts tell
clusters apart by how much was counted too, unless their exposure is the total.

**Which prior?** Under a *Dirichlet process* the posterior of the number of clusters does not settle on a true number however many
samples there are: small extra clusters are what this prior says. Who asks "how many" takes the *finite mixture*; who asks "who with
whom" may take either. *Pitman-Yor* expects a few large clusters and a long tail of small ones.

**Which clustering is shown?** Clusters have no names from one draw to the next, so draws are compared as partitions. The one shown has the
least expected variation of information to all draws of all chains; the *credible ball* holds 95 % of them (in bits: 0 is equal).

Where there are many columns that go together within a cluster, take factors first, and cluster their values.
"""

CATEGORY = {"x_label": "clusters", "y_label": "probability"}

DP_MIXTURE = ModelSpec(
    id="dp_mixture",
    version="0.2.0",
    title="Dirichlet process mixture",
    summary="Clusters of samples, **their number inferred**, from one or several matrices of numbers, categories, 0/1 or counts; with "
    "how sure each sample's place is.",
    tags=("clusters", "mixture", "nonparametric", "multi-view"),
    inputs=(
        Input(
            "views", "matrix", "real", dims=("sample", "feature"), samples="sample", label="Matrices", missing=True, many=True, also=("count", "binary", "categorical"),
            union=True,
            doc="One or more matrices of samples by features, which share the clusters. Cells or whole matrices of a sample may be "
            "missing.",
        ),
    ),
    hyperparameters=SETTINGS,
    dims={
        "cluster": "clusters of the clustering that is shown, the largest first",
        "variable": "columns of all matrices, one matrix after the other",
        "view": "matrix",
        "pair_of_variables": "pairs of correlated columns of one matrix",
        "missing_cell": "missing cells of matrices with correlated columns",
        "shown": "clusters that are shown, and none of them",
    },
    variables=(
        Variable("cluster_of", ("sample",), "int", label="Cluster of each sample", doc="by first appearance; no names from draw to draw"),
        Variable("n_clusters", dtype="int", label="Clusters"),
        Variable("alpha", label="Alpha", doc="has no part in a finite mixture"),
        Variable("discount", label="Discount", doc="of a Pitman-Yor process alone"),
        Variable("base_centre", ("variable",), label="Common centre", doc="of columns of numbers, in units of the fit; else 0"),
        Variable(
            "base_scale", ("variable",), label="Common scale",
            doc="b0 of the variances of numbers, rate of the law of rates of counts; else 0",
        ),
        Variable(
            "base_weight", ("view",), label="Weight of the common centre",
            doc="of matrices of numbers; of counts that share a total the weight of each share",
        ),
        Variable(
            "base_shape", label="Likeness of the spreads",
            doc="shape of the laws of variances and covariances; the setting where it is not learned or there are no numbers",
        ),
        Variable(
            "base_spread", ("pair_of_variables",), label="Common scatter",
            doc="Psi0 on and below the diagonal, of each matrix with correlated columns, in units of the fit",
        ),
        Variable(
            "imputed", ("missing_cell",), label="Missing cells",
            doc="of matrices with correlated columns, row by row, as drawn, in units of the fit",
        ),
    ),
    traces=(
        Trace(
            "log_joint", "Log joint density", hint="data, partition and what is learned beside; levels off", goal="up", primary=True
        ),
        Trace("n_clusters", "Clusters", hint="goes up and down; small clusters come and go", kind="count"),
        Trace("largest", "Largest cluster", hint="share of the samples", kind="share"),
        Trace("alpha", "Alpha", hint="higher means more clusters", when={**ALPHA, "learn_alpha": True}),
        Trace("discount", "Discount", hint="higher means more small clusters", when={"prior": "pitman_yor", "learn_discount": True}),
        Trace(
            "likeness", "Likeness of the spreads", hint="higher means clusters more alike in spread; of numbers alone",
            when={"learn_base": True, "learn_shape": True},
        ),
        Trace("moved", "Samples that moved", hint="share that changed its cluster in a sweep", kind="share", judged=False),
        Trace("accepted", "Splits and merges", hint="share of those tried", kind="acceptance"),
        Trace("swapped", "Swaps", hint="share of swaps with the first tempered copy that were taken", kind="acceptance", judged=False),
    ),
    views=(
        View(
            "picture", "Groups",
            {"similarity": "similarity", "items": "shown_place", "group": "labels", "certainty": "certainty"},
            headline="headline", caption="similarity_caption", options={"factory": "dp_mixture.groups"},
        ),
        View(
            "picture", "Profiles", {"values": "profile", "interval": "profile_interval", "names": "column_names"},
            headline="profile_headline", caption="profile_caption", options={"factory": "dp_mixture.profiles"},
        ),
        View("table", "Clusters", "clusters", headline="headline", caption="caption", options={"layer": True}, group="Tables"),
        View("table", "Samples", "assignments", headline="certainty_headline", caption="assignments_caption", group="Tables"),
        View("table", "Columns by cluster", "profile_table", caption="profile_caption", group="Tables"),
        View(
            "bars", "Number of clusters", {"values": "number_probability", "x": "number"}, headline="number_headline",
            caption="number_caption", options=CATEGORY,
        ),
    ),
    schedule=Schedule(chains=4, warmup=200, draws=500, thin=1),
    state_version=2,
    citation=CITATION,
    help=HELP,
)  # fmt: skip
