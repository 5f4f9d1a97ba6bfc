"""What the model declares: inputs, variables, traces and views."""

from __future__ import annotations

from plaidwork.core.api import Input, Metric, ModelSpec, Schedule, Trace, Variable, View
from plaidwork.plugins.supervised_ibp.settings import SETTINGS

CITATION = (
    "Fong, C., & Grimmer, J. (2016). Discovery of treatments from text corpora. Proceedings of the 54th Annual Meeting "
    "of the Association for Computational Linguistics, 1600-1609.\nFong, C., & Grimmer, J. (2023). Causal inference with "
    "latent treatments. American Journal of Political Science 67, 374-389."
)

INPUTS = (
    Input(
        "X",
        "matrix",
        "real",
        dims=("document", "word"),
        samples="document",
        label="Words",
        doc="Documents by words: counts, or any weights. May be sparse.",
        sparse=True,
        in_file=True,
        least=(20, 30),
        about="texts",
    ),
    Input(
        "y",
        "vector",
        "real",
        dims=("document",),
        samples="document",
        label="Outcome",
        doc="A number for each document. Documents without one are left out.",
        missing=True,
    ),
    Input(
        "group",
        "labels",
        "categorical",
        dims=("document",),
        samples="document",
        label="Groups",
        doc="Such as a randomised treatment: topics are common to all, their effects are those of the group.",
        missing=True,
        required=False,
    ),
    Input(
        "cluster",
        "labels",
        "categorical",
        dims=("document",),
        samples="document",
        label="Clusters",
        doc="Documents of one cluster, such as one author, are all for training or all for the test.",
        missing=True,
        required=False,
    ),
    Input(
        "covariates",
        "matrix",
        "real",
        dims=("document", "covariate"),
        samples="document",
        label="Covariates of the outcome",
        doc="Numbers of each document that go along with the outcome.",
        missing=True,
        required=False,
    ),
    Input(
        "split",
        "vector",
        "binary",
        dims=("document",),
        samples="document",
        label="Split",
        doc="1 for test documents, 0 for training documents, instead of a split at random.",
        required=False,
        fit_only=True,
    ),
    Input(
        "start",
        "matrix",
        "real",
        dims=("document", "start_topic"),
        samples="document",
        label="Start values",
        doc="Probability of each topic in each document before the first sweep.",
        required=False,
        fit_only=True,
    ),
)

COMPARABLE = tuple(
    setting.name
    for setting in SETTINGS
    if setting.name not in ("transform", "min_documents", "screen", "test_share", "split_seed")
)
"""Settings that leave words and training half what they are."""

VARIABLES = (
    Variable("assignments", ("training_document", "topic"), label="Probability of the topic"),
    Variable(
        "weights", ("topic", "word"), label="Weight", doc="mean of q, of scaled words; 0 where left out"
    ),
    Variable("weight_cov", ("topic", "topic"), label="Covariance of the weights of a word"),
    Variable("share_a", ("free_topic",), label="Share of the topic: first parameter"),
    Variable("share_b", ("free_topic",), label="Share of the topic: second parameter"),
    Variable("coefficients", ("coefficient",), label="Training coefficients", doc="not effects"),
    Variable("coefficient_cov", ("coefficient", "coefficient"), label="Their covariance times the precision"),
    Variable("precision_shape", label="Precision of the outcome: shape"),
    Variable("precision_rate", label="Precision of the outcome: rate"),
)

TRACES = (
    Trace("elbo", "Evidence lower bound", hint="rises until it levels off", goal="up", primary=True),
    Trace("words", "Bound: words", hint="how well topics explain the words"),
    Trace("outcome", "Bound: outcome", hint="how well topics explain the outcome"),
    Trace("assignments", "Bound: topics of the documents", hint="price of the topics"),
    Trace("weights", "Bound: weights", hint="price of the weights"),
    Trace("coefficients", "Bound: coefficients and noise", hint="price of the coefficients"),
    Trace("active", "Topics in use", hint="in more than one document", kind="count"),
    Trace(
        "moves_left",
        "Moves left",
        hint="other topics to try until so many in a row were in vain",
        kind="count",
        judged=False,
    ),
    Trace("change", "Largest change", hint="of the probability of a topic", kind="share", y_log=True),
)

VIEWS = (
    View(
        "coefficients",
        "Weights",
        {"values": "topic_weights", "names": "kept_word"},
        headline="headline",
        caption="caption",
        options={"dim": "words", "together": True},
        group="Words",
    ),
    View(
        "coefficients",
        "Extra per document",
        {"values": "extra_counts", "names": "kept_word"},
        headline="headline",
        caption="extra_caption",
        options={"dim": "words", "together": True},
        group="Words",
    ),
    View(
        "table",
        "Topics",
        {"values": "topics"},
        headline="headline",
        caption="caption",
        options={"layer": True},
    ),
    View(
        "bars",
        "Size",
        {"values": "topic_sizes"},
        headline="sizes_headline",
        options={"x_label": "Topic", "y_label": "Expected training documents"},
        group="Sizes",
    ),
    View(
        "bars",
        "Topics per document",
        {"values": "topics_per_document"},
        options={"x_label": "Topics in a document", "y_label": "Training documents"},
        group="Sizes",
    ),
    View(
        "heatmap",
        "Correlation of topics",
        {"values": "correlation", "row_names": "topic", "column_names": "topic"},
        headline="correlation_headline",
        options={"scale": "diverging", "minimum": -1, "maximum": 1},
        group="Sizes",
    ),
    View(
        "documents",
        "Representative",
        {
            "scores": "assignments",
            "strength": "support",
            "words": "topic_weights",
            "names": "kept_word",
            "documents": "training_document",
            "outcome": "training_outcome",
        },
        caption="documents_caption",
        options={"dim": "document"},
        group="Documents",
    ),
    View("table", "Of every topic", {"values": "representative"}, group="Documents"),
    View(
        "table",
        "Least explained",
        {"values": "least_explained"},
        headline="least_headline",
        caption="least_caption",
        group="Documents",
    ),
    View(
        "coefficients",
        "Words explained",
        {"values": "word_shares", "names": "kept_word"},
        headline="words_headline",
        caption="fit_caption",
        options={"dim": "words", "top": 25},
        group="Training fit",
    ),
    View(
        "scatter",
        "Residuals",
        {"values": "residuals"},
        headline="outcome_headline",
        caption="training_caption",
        options={"dim": "document"},
        group="Training fit",
    ),
    View(
        "table",
        "Outcome weights",
        {"values": "training_weights"},
        caption="training_caption",
        group="Training fit",
    ),
    View(
        "table",
        "Restarts",
        {"values": "restarts"},
        headline="restarts_headline",
        caption="restarts_caption",
    ),
)

METRICS = (
    Metric(
        "held_out_words",
        "Words left out",
        goal="up",
        comparable_across=COMPARABLE,
        doc="log density of the words of a training document by a fit that has not seen it, in nats: mean over documents",
    ),
    Metric(
        "exclusivity",
        "Exclusivity",
        goal="up",
        doc="how far the top words of a topic go together in its documents only, of the restart shown",
    ),
    Metric(
        "elbo", "Bound", over="best", comparable_across=(), doc="a bound depends on its priors and its words"
    ),
    Metric("topics_in_use", "Topics in use", goal="up", doc="in more than one training document"),
    Metric(
        "smallest_topic", "Smallest topic", goal="up", doc="training documents of the smallest topic in use"
    ),
)

SUPERVISED_IBP = ModelSpec(
    id="supervised_ibp",
    version="0.1.0",
    title="Supervised Indian buffet process",
    summary="Topics of documents that explain **words and an outcome**: any number of them in a document. Effects on the "
    "outcome are estimated from documents that the fit has not seen.",
    tags=("text", "topics", "causal"),
    algorithm="variational",
    inputs=INPUTS,
    hyperparameters=SETTINGS,
    dims={
        "training_document": "documents of the training half",
        "topic": "topic, the background first when there is one",
        "free_topic": "topic other than the background",
        "coefficient": "covariates, then the topics of each group",
    },
    variables=VARIABLES,
    traces=TRACES,
    views=VIEWS,
    metrics=METRICS,
    state_version=3,
    schedule=Schedule(chains=12, max_sweeps=5000, tolerance=0.1, window=50),
    citation=CITATION,
    help=(
        "The documents are split in two. In the **training** half, topics are found that explain the words and the "
        "outcome together. The **test** half is not used: there the analysis “Effects of topics” finds the same topics "
        "from the words alone and compares the outcomes of documents with and without each topic. Look for topics as long "
        "as you like; when the test half has been used, further fits are exploratory.\n\n"
        "A word's weight in a topic is what the topic adds to it (to the logarithm of 1 + its count, unless set otherwise). The "
        "fit ends at different solutions from different starts: each restart grows its topics one after the other, tries others in their "
        "place, and says how many of these moves are left. Compare the restarts. Shown is the one of the highest bound "
        "among those whose topics are in 2 to 90 % of the documents. How many test documents will have each topic is expected "
        "from five fits to four fifths of the training documents each; topics that nearly all or nearly no documents have "
        "have no clear effect."
    ),
)
