"""What the topic model declares: inputs, variables, traces and views."""

from __future__ import annotations

from plaidwork.core.api import Input, Metric, ModelSpec, Schedule, Trace, Variable, View
from plaidwork.plugins.dirichlet_processes.topics.settings import SETTINGS

CITATION = """\
Teh, Y. W., Jordan, M. I., Beal, M. J. and Blei, D. M. (2006). Hierarchical Dirichlet processes. Journal of the American Statistical Association 101, 1566-1581.
Jain, S. and Neal, R. M. (2004). A split-merge Markov chain Monte Carlo procedure for the Dirichlet process mixture model. Journal of Computational and Graphical Statistics 13, 158-182."""

HELP = """\
Every word of a document comes from one of its topics. A topic is a distribution over all words, a document a mixture of a few topics,
and how many topics there are is inferred: a hierarchical Dirichlet process. Shares of documents and words of topics are integrated out.

**How many topics?** A large corpus has ever more topics, and tiny ones come and go; look at *main topics*, which hold 99 % of the words. With
hundreds of thousands of words chains stay near where they began: their number is then no finding, and fits are compared by the **perplexity** of words that
were left out (lower is better).

**Which topics are shown?** The main topics of the draw that is most like the others. Every other draw is matched to it, topic by topic; *presence*
says in how many draws a topic has a like, and the intervals are over those.

Leave out words that say nothing of a subject (stop words) when the texts are read: they take topics of their own.
"""

VARIABLES = (
    Variable("main_topics", dtype="int", label="Main topics", doc="that hold 99 % of the words"),
    Variable("alpha", label="Alpha", doc="concentration of the topics of a document"),
    Variable("gamma", label="Gamma", doc="concentration of the topics of the corpus"),
    Variable("eta", label="Eta", doc="weight of each word in a topic"),
    Variable("sizes", ("topic",), "int", ragged=True, label="Words of each topic"),
    Variable("log_joint", label="Log joint density"),
    Variable(
        "topic_words", ("kept_topic", "word"), "int", ragged=True, label="Words of topics",
        doc="counts; of a large corpus not of every draw",
    ),
    Variable(
        "topic_documents", ("kept_topic", "document"), "count", ragged=True, label="Topics of documents",
        doc="counts; as often as those of the words",
    ),
    Variable("weight", ("kept_topic",), ragged=True, label="Weight", doc="of these topics in a document to come"),
    Variable("rest", label="Rest of the weights", doc="of topics that are not there yet"),
)  # fmt: skip

TRACES = (
    Trace("log_joint", "Log joint density", hint="words, topics and weights; levels off", goal="up", primary=True),
    Trace("main_topics", "Main topics", hint="that hold 99 % of the words", kind="count"),
    Trace("n_topics", "Topics", hint="goes up and down; tiny topics come and go", kind="count", judged=False),
    Trace("alpha", "Alpha", hint="higher means more topics in a document"),
    Trace("gamma", "Gamma", hint="higher means more topics in all"),
    Trace("eta", "Eta", hint="higher means topics of more words"),
    Trace(
        "perplexity", "Perplexity", hint="of words left out, averaged since the warm-up; lower predicts better", goal="down",
        judged=False,
    ),
    Trace("moved", "Words that moved", hint="share that changed its topic in a sweep", kind="share", judged=False),
    Trace("accepted", "Splits and merges", hint="share of those tried", kind="acceptance"),
)  # fmt: skip

VIEWS = (
    View(
        "coefficients", "Words", {"values": "topic_shares", "interval": "topic_interval", "names": "shown_word"},
        headline="headline", caption="caption", options={"dim": "words", "together": True, "signed": False},
    ),
    View("table", "Topics", {"values": "topics"}, headline="headline", caption="topics_caption", options={"layer": True}),
    View(
        "heatmap", "Documents by topics",
        {"values": "document_shares", "row_names": "document_names", "column_names": "topic"},
        headline="mixed_headline", caption="documents_caption", group="Documents",
    ),
    View(
        "documents", "Representative",
        {"scores": "document_shares", "words": "topic_shares", "names": "shown_word", "documents": "document_names"},
        caption="documents_caption", options={"dim": "document"}, group="Documents",
    ),
    View("table", "Of every topic", {"values": "representative"}, group="Documents"),
    View(
        "heatmap", "Likeness of topics", {"values": "likeness", "row_names": "topic", "column_names": "topic"},
        headline="likeness_headline", caption="likeness_caption",
    ),
    View(
        "bars", "Number of topics", {"values": "number_probability", "x": "number"}, headline="number_headline",
        caption="number_caption", options={"x_label": "main topics", "y_label": "probability"}, group="Numbers",
    ),
    View("posterior", "Concentrations", {"values": "concentrations", "names": "concentration"}, group="Numbers"),
    View("table", "Perplexity", {"values": "fits"}, headline="perplexity_headline", caption="perplexity_caption", group="Numbers"),
)  # fmt: skip

HDP_TOPICS = ModelSpec(
    id="hdp_topics",
    version="0.2.0",
    title="Topics, number inferred",
    summary="Topics of documents, **their number inferred**, by a hierarchical Dirichlet process: words of each topic and topics of each "
    "document, with intervals.",
    tags=("text", "topics", "nonparametric", "counts"),
    inputs=(
        Input(
            "X", "matrix", "count", dims=("document", "word"), samples="document", label="Words", sparse=True, in_file=True,
            doc="Documents by words: how often each word comes. May be sparse.", least=(20, 30), about="texts",
        ),
    ),
    hyperparameters=SETTINGS,
    dims={
        "topic": "topic, the most prevalent first",
        "kept_topic": "topic of a draw whose words are kept",
    },
    variables=VARIABLES,
    traces=TRACES,
    views=VIEWS,
    metrics=(
        Metric("perplexity", "Perplexity", goal="down", doc="of the words left out; lower predicts better"),
        Metric("log_joint", "Log joint density", comparable_across=(), doc="a density depends on its priors"),
        Metric("main_topics", "Main topics", goal="up", doc="that hold 99 % of the words"),
    ),
    state_version=3,
    schedule=Schedule(chains=4, warmup=200, draws=200, thin=1),
    citation=CITATION,
    help=HELP,
)  # fmt: skip
