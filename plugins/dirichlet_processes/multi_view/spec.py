"""What the model of several views declares: inputs, variables, traces and views."""

from __future__ import annotations

from plaidwork.core.api import Input, ModelSpec, Schedule, Trace, Variable, View
from plaidwork.plugins.dirichlet_processes.multi_view.settings import SETTINGS

CITATION = """\
Rogers, S., Klami, A., Sinkkonen, J., Girolami, M. and Kaski, S. (2010). Infinite factorization of multiple non-parametric views. Machine Learning 79, 201-226.
Teh, Y. W., Jordan, M. I., Beal, M. J. and Blei, D. M. (2006). Hierarchical Dirichlet processes. Journal of the American Statistical Association 101, 1566-1581.
Jain, S. and Neal, R. M. (2004). A split-merge Markov chain Monte Carlo procedure for the Dirichlet process mixture model. Journal of Computational and Graphical Statistics 13, 158-182.
Wade, S. and Ghahramani, Z. (2018). Bayesian cluster analysis: point estimation and credible balls. Bayesian Analysis 13, 559-626."""

HELP = """\
Each view (matrix) has clusters of its own, their number inferred. *Blocks* of samples tie the views: samples of one block draw their
clusters in every view from the same shares. With one block the views are independent; where every block has one cluster in each view
they have one clustering in common; what is between is inferred.

**How far do the views depend on each other?** Look at the *mutual information* of their clusters, in nats: 0 is independent, and no more than
the smaller entropy of the two can be shared. It is biased upwards where the views are independent and down a little where they are
strongly tied, so compare it with that of *permuted* samples, which have nothing in common but the sizes of the clusters.

**The number of blocks is no measure of dependence.** Where all blocks have the same shares it is arbitrary.

A sample may lack a whole view, or single cells of it. *New samples* may lack views too: their clusters there are
predicted from the others. Columns that go together within a cluster are split into many clusters: take factors
first, and cluster their values.
"""

PAIR_DOC = "pairs of views, in order: the first with the second, the first with the third, and so on"

MULTI_VIEW_CLUSTERS = ModelSpec(
    id="multi_view_clusters",
    version="0.2.0",
    title="Clusters in several views",
    summary="Clusters of the same samples in each of two or more matrices, **and how far they depend on each other**, with uncertainty.",
    tags=("clusters", "mixture", "nonparametric", "multi-view"),
    inputs=(
        Input(
            "views", "matrix", "real", dims=("sample", "feature"), samples="sample", label="Views", missing=True, many=True, union=True,
            also=("categorical",),
            doc="Two or more matrices of samples by features, each with clusters of its own. Cells or whole matrices of a sample may "
            "be missing.",
        ),
    ),
    hyperparameters=SETTINGS,
    dims={
        "view": "views",
        "pair": PAIR_DOC,
        "variable": "columns of all views, one view after the other",
        "concentration": "of blocks, of a block's clusters by view, of each view's clusters",
        "weighed": "clusters of all views, those of one view after the other",
        "cluster": "clusters that are shown, those of one view after the other",
    },
    variables=(
        Variable("block_of", ("sample",), "int", label="Block of each sample", doc="by first appearance; no names from draw to draw"),
        Variable("cluster_of", ("view", "sample"), "int", label="Clusters of each sample", doc="-1 in a view that it lacks"),
        Variable("n_clusters", ("view",), "int", label="Clusters of each view"),
        Variable(
            "concentrations", ("concentration",), label="Concentrations",
            doc="of blocks, then of a block's clusters by view (alpha), then of a view's clusters (gamma)",
        ),
        Variable("weight", ("weighed",), ragged=True, label="Weights of clusters"),
        Variable("mutual", ("pair",), label="Mutual information", doc="of the clusters of two views, in nats"),
        Variable("entropy", ("view",), label="Entropy", doc="of the clusters of a view, in nats"),
        Variable("total_correlation", label="Total correlation", doc="of all views, in nats"),
        Variable("base_centre", ("variable",), label="Common centre", doc="of columns of numbers, in units of the fit; else 0"),
        Variable(
            "base_scale", ("variable",), label="Common scale",
            doc="b0 of the variances of numbers, rate of the law of rates of counts; else 0",
        ),
        Variable("base_weight", ("view",), label="Weight of the common centre", doc="of views of numbers"),
    ),
    traces=(
        Trace(
            "log_joint", "Log joint density", hint="data, clusters and what is learned beside; levels off", goal="up", primary=True,
        ),
        Trace("shared", "Shared information", hint="mutual information of two views, in nats; the mean over all pairs"),
        Trace("n_clusters", "Clusters", hint="mean over the views; small clusters come and go"),
        Trace("n_blocks", "Blocks", hint="no measure of dependence: alike blocks come and go", kind="count", judged=False),
        Trace("alpha", "Alpha", hint="lower ties the views; geometric mean", judged=False),
        Trace("gamma", "Gamma", hint="higher means more clusters; geometric mean", judged=False),
        Trace("moved", "Samples that moved", hint="share that changed a cluster in a sweep", kind="share", judged=False),
        Trace("accepted_blocks", "Splits and merges of blocks", hint="share of those tried", kind="acceptance"),
        Trace("accepted", "Splits and merges of clusters", hint="share of those tried", kind="acceptance"),
    ),
    views=(
        View(
            "picture", "Shared clusters", {"values": "information"}, headline="headline", caption="caption",
            options={"factory": "multi_view_clusters.shared"},
        ),
        View(
            "picture", "Groups", {"values": "labels"}, headline="groups_headline", caption="groups_caption",
            options={"factory": "multi_view_clusters.groups"},
        ),
        View(
            "picture", "Profiles", {"values": "profile_table"}, headline="groups_headline", caption="profile_caption",
            options={"factory": "multi_view_clusters.profiles"},
        ),
        View("table", "Dependence", "information", headline="headline", caption="caption", group="Tables"),
        View("table", "Cells", "cells", headline="headline", caption="cells_caption", group="Tables"),
        View("table", "Clusters", "clusters", headline="groups_headline", caption="groups_caption", group="Tables"),
        View("table", "Samples", "assignments", headline="certainty_headline", caption="assignments_caption", group="Tables"),
        View("table", "Columns by cluster", "profile_table", caption="profile_caption", group="Tables"),
    ),
    schedule=Schedule(chains=4, warmup=300, draws=500, thin=1),
    state_version=2,
    citation=CITATION,
    help=HELP,
)  # fmt: skip
