"""What the analysis of effects declares: its settings and views."""

from __future__ import annotations

from typing import Literal, TypedDict

from plaidwork.core.api import AnalysisSpec, Choice, Hyperparameter, View

NEEDS = {
    "shown": "restart_shown",
    "restarts": "restart_numbers",
    "weights": "draws:weights",
    "cov": "draws:weight_cov",
    "share_a": "draws:share_a",
    "share_b": "draws:share_b",
}


class Wanted(TypedDict):
    """The settings, in canonical type."""

    restart: int
    errors: Literal["auto", "hc2", "cluster", "classical", "bootstrap"]
    level: float
    adjust: Literal["none", "holm", "bh"]
    use_covariates: bool
    least: int
    threshold: float
    method: Literal["auto", "exact", "mean-field", "texteffect"]
    starts: int
    resamples: int
    seed: int


SETTINGS = (
    Hyperparameter(
        "restart",
        "int",
        0,
        label="Restart",
        minimum=0,
        maximum=10_000,
        doc="Whose topics are used; 0 takes the one shown.",
    ),
    Hyperparameter(
        "errors",
        "choice",
        "auto",
        label="Standard errors",
        choices=(
            Choice(value="auto", label="Robust", doc="HC2, or by cluster when clusters were given."),
            Choice(value="hc2", label="HC2", doc="Holds when the spread differs between documents."),
            Choice(value="cluster", label="By cluster", doc="Holds when documents of a cluster are alike."),
            Choice(value="classical", label="Classical", doc="As the R package texteffect."),
            Choice(
                value="bootstrap", label="Bootstrap", doc="Quantiles over documents or clusters drawn anew."
            ),
        ),
        doc="How the uncertainty of the effects is worked out: by formulas, or by drawing documents anew.",
    ),
    Hyperparameter(
        "level",
        "float",
        0.95,
        label="Interval",
        minimum=0.5,
        maximum=0.999,
        doc="Probability with which an interval covers the effect.",
    ),
    Hyperparameter(
        "adjust",
        "choice",
        "none",
        label="Adjust p for many topics",
        choices=(
            Choice(value="none", label="No"),
            Choice(value="holm", label="Holm", doc="Chance of any false finding."),
            Choice(value="bh", label="Benjamini-Hochberg", doc="Share of false findings."),
        ),
        doc="Whether p is corrected for the number of effects estimated, as one of many is small by chance.",
    ),
    Hyperparameter(
        "use_covariates",
        "bool",
        False,
        label="Adjust for the covariates",
        doc="The covariates of the fit enter the regression, centred.",
    ),
    Hyperparameter(
        "least",
        "int",
        5,
        label="Least documents",
        minimum=1,
        maximum=10**6,
        doc="Topics in fewer test documents, or lacking in fewer, have no estimate.",
        advanced=True,
    ),
    Hyperparameter(
        "threshold",
        "float",
        0.5,
        label="Topic from",
        minimum=0,
        open_minimum=True,
        maximum=1,
        doc="A test document has a topic when its probability is at least this.",
        advanced=True,
    ),
    Hyperparameter(
        "method",
        "choice",
        "auto",
        label="Topics of test documents",
        choices=(
            Choice(value="auto", label="Exact up to 12 topics"),
            Choice(value="exact", label="Exact", doc="All combinations of topics; up to 20 topics."),
            Choice(value="mean-field", label="Approximate", doc="Best of several starts."),
            Choice(
                value="texteffect",
                label="As the R package texteffect",
                doc="From its one random start; other starts often give other topics.",
            ),
        ),
        doc="From the words alone, never the outcome.",
        advanced=True,
    ),
    Hyperparameter(
        "starts",
        "int",
        8,
        label="Random starts",
        minimum=0,
        maximum=100,
        doc="Of the approximation, besides one from the prior.",
        advanced=True,
    ),
    Hyperparameter(
        "resamples",
        "int",
        2000,
        label="Bootstrap samples",
        doc="How often documents are drawn anew; more give steadier intervals and take longer.",
        minimum=100,
        maximum=100_000,
        when={"errors": "bootstrap"},
        advanced=True,
    ),
    Hyperparameter(
        "seed",
        "int",
        1,
        label="Seed",
        minimum=0,
        maximum=2**31 - 1,
        advanced=True,
        doc="Fixes which documents the bootstrap draws, so that the same numbers come again.",
    ),
)

EFFECTS = AnalysisSpec(
    id="supervised_ibp.effects",
    version="0.1.0",
    title="Effects of topics",
    summary="How the outcome of test documents differs with each topic.",
    needs=NEEDS,
    hyperparameters=SETTINGS,
    views=(
        View(
            "effects",
            "Effects",
            {
                "values": "effects",
                "interval": "effect_interval",
                "names": "effect_names",
                "group": "effect_group",
                "reason": "effect_reason",
                "count": "effect_count",
                "p": "effect_p",
            },
            headline="headline",
            caption="caption",
            options={"dim": "topic", "count_label": "documents", "layer": True},
        ),
        View("table", "Table", {"values": "effect_table"}, headline="headline", caption="caption"),
        View(
            "bars",
            "Sizes",
            {"values": "test_sizes"},
            options={"x_label": "Topic", "y_label": "Test documents"},
        ),
        View(
            "heatmap",
            "Correlation of topics",
            {"values": "test_correlation", "row_names": "topic", "column_names": "topic"},
            options={"scale": "diverging", "minimum": -1, "maximum": 1},
        ),
        View(
            "documents",
            "Test documents",
            {
                "scores": "test_assignments",
                "words": "topic_weights",
                "names": "kept_word",
                "documents": "test_document",
                "outcome": "test_outcome",
            },
            caption="documents_caption",
            options={"dim": "document"},
        ),
        View("table", "List of them", {"values": "test_documents"}),
    ),
    unlocks="test half",
    caution="caution",
    models=("supervised_ibp",),
    help=(
        "The topics of every test document are worked out from its words alone, with what was learned from the training "
        "documents. A document has a topic when its probability is at least one half (or as set). The outcome is then regressed on "
        "the topics by least squares: an effect is the average marginal component effect, the change of the mean "
        "outcome with one topic added, the others as they are. Topics in too few test documents, and those that other "
        "topics determine, are named as not estimable."
    ),
    citation="Fong, C., & Grimmer, J. (2016). Discovery of treatments from text corpora. ACL 2016.",
)
