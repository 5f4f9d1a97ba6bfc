"""The analysis “Gene set enrichment”: sets of features that weigh much in a factor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from plaidwork.core.api import (
    Analysis,
    AnalysisData,
    AnalysisSpec,
    AttachedFile,
    Choice,
    FileRequest,
    Hyperparameter,
    ModelError,
    Params,
    Result,
    Results,
    View,
    counted,
)
from plaidwork.core.api_scores import benjamini_hochberg
from plaidwork.plugins.factor_tools.common import SIGNIFICANCE
from plaidwork.plugins.factor_tools.enriched import Part, Test, matching, one_sided, pictures, tables
from plaidwork.plugins.factor_tools.gene_sets import GeneSets, match, read_gmt
from plaidwork.plugins.factor_tools.set_tests import SetTests, compare_sets, permuted_p

HELP = (
    "Positive weights, negative weights or the size of all weights are compared between the features of a set and all "
    "other features of the same view; the other sign counts as zero. The rank test (Mann and Whitney) asks whether "
    "the set's features come first more often than by chance; the t test compares the means. Both are one-sided. "
    "**Features of a set go together**, so that a set stands out more easily than its size says: the correlation "
    "within sets allows for that as Camera does (Wu and Smyth 2012; 0.01 is its usual value, 0 takes features as "
    "independent, which gives too many findings). With permutations, p is the share of random sets of the same size "
    "that do as well; that takes features as independent too. The effect is the difference of the means in pooled "
    "standard deviations; the AUC is the probability that a feature of the set weighs more than one outside. All p, of "
    "all factors, views, sets and directions, are adjusted together by Benjamini and Hochberg (1995). The uncertainty "
    "of the weights is not in the tests."
)
SETTINGS = (
    Hyperparameter(
        "direction",
        "choice",
        "apart",
        label="Weights",
        choices=(
            Choice(value="apart", label="Positive and negative apart"),
            Choice(value="size", label="Size, whatever the sign"),
            Choice(value="all", label="Positive, negative and size"),
        ),
        doc="Apart finds sets that move in one direction, size also those that move in both.",
    ),
    Hyperparameter(
        "test",
        "choice",
        "rank",
        label="Test",
        choices=(Choice(value="rank", label="Rank test"), Choice(value="t", label="t test")),
        doc="The rank test does not mind a few very large weights.",
    ),
    Hyperparameter(
        "smallest",
        "int",
        10,
        minimum=1,
        label="Smallest set",
        doc="Sets of which fewer features are in the data are left out.",
    ),
    Hyperparameter(
        "largest",
        "int",
        500,
        minimum=1,
        label="Largest set",
        doc="Sets of which more features are in the data are left out: they say little.",
    ),
    Hyperparameter(
        "ignore_case",
        "bool",
        False,
        label="Ignore upper and lower case",
        doc="Match Tp53 with TP53. Genes of mouse and human differ in case, and in more.",
    ),
    SIGNIFICANCE,
    Hyperparameter(
        "within",
        "float",
        0.01,
        minimum=0,
        maximum=0.9,
        label="Correlation within sets",
        doc="Mean correlation between features of a set that the test allows for.",
        advanced=True,
    ),
    Hyperparameter(
        "permutations",
        "int",
        0,
        minimum=0,
        maximum=1_000_000,
        label="Permutations",
        doc="Takes p from this many random sets instead of the formula; 0 for the formula.",
        advanced=True,
    ),
    Hyperparameter(
        "seed",
        "int",
        1,
        minimum=0,
        label="Seed",
        doc="Fixes the random sets of features that the p values compare with.",
        advanced=True,
    ),
)


class GeneSetEnrichment(Analysis):
    """Enrichment of a factor's weights in gene sets, view by view."""

    spec = AnalysisSpec(
        id="factor_tools.gene_sets",
        version="0.1.0",
        title="Gene set enrichment",
        summary="Which gene sets of a file weigh much in which factor, positive and negative weights apart.",
        needs={"weights": "loadings"},
        optional={"view": "variable_view"},
        files=(
            FileRequest(
                "sets",
                (".gmt", ".gmt.gz"),
                label="Gene sets",
                doc="A GMT file: a set a line, its name, a description and its genes between tabs. A copy is kept.",
            ),
        ),
        hyperparameters=SETTINGS,
        views=(
            View(
                "coefficients",
                "Top sets",
                {"values": "evidence", "names": "tested", "group": "tested_view"},
                caption="evidence_caption",
                options={"dim": "gene set", "top": 12},
            ),
            View(
                "heatmap",
                "Map of top sets",
                {"values": "top_evidence", "mark": "top_significant"},
                headline="headline",
                caption="evidence_caption",
                options={"scale": "diverging", "minimum": -5, "maximum": 5},
            ),
            View("table", "Gene sets", {"values": "enrichment"}, headline="headline", caption="caption"),
            View(
                "table",
                "Matching",
                {"values": "matching"},
                headline="match_headline",
                caption="match_caption",
            ),
        ),
        help=HELP,
        citation="Wu and Smyth (2012), Camera, Nucleic Acids Research 40, e133.",
    )

    def examine(self, name: str, file: AttachedFile) -> str:
        sets = read_gmt(file)
        sizes = sorted(len(genes) for genes in sets.members)
        return (
            f"{counted(len(sets), 'set')} of {sizes[0]:,} to {counted(sizes[-1], 'gene')}, "
            f"{counted(len(sets.genes), 'gene')} in all"
        )

    def run(self, results: Mapping[str, Any], data: AnalysisData, params: Params, report: Any) -> Results:
        weights, (factor_dim, feature_dim) = _weights(results["weights"])
        if params["largest"] < params["smallest"]:
            raise ModelError(
                f"The largest set ({params['largest']}) is smaller than the smallest ({params['smallest']}).",
                "Change one of them.",
            )
        sets = read_gmt(data.files["sets"])
        features = data.names_along(feature_dim, weights.shape[1])
        view_of = (
            np.asarray(results["view"].values).astype(str)
            if "view" in results
            else np.full(len(features), "")
        )
        report(0.02)
        parts = [_part(sets, view, features, view_of, params) for view in dict.fromkeys(view_of.tolist())]
        used = [part for part in parts if len(part.tested)]
        if not used:
            raise _nothing(sets, parts, features, params)
        tests = _tests(weights, used, params, report)
        factors = data.names_along(factor_dim, len(weights))
        p = np.concatenate([test.result.p for test in tests])
        adjusted = np.split(benjamini_hochberg(p), np.cumsum([len(test.result.p) for test in tests])[:-1])
        return {
            factor_dim: Result(np.array(factors), (factor_dim,)),
            **pictures(sets, used, tests, adjusted, factors, factor_dim, params),
            **tables(sets, used, tests, adjusted, factors, features, weights, params),
            **matching(sets, parts, params),
        }


def _weights(result: Result) -> tuple[np.ndarray, tuple[str, str]]:
    values = np.asarray(result.values, dtype=np.float64)
    if values.ndim != 2 or len(result.dims) != 2:
        raise ModelError(f"The weights need the dims factor and feature. Found the shape {values.shape}.")
    if not len(values):
        raise ModelError("The run found no factor.", "There is nothing to compare.")
    return values, (result.dims[0], result.dims[1])


def _part(sets: GeneSets, view: str, features: Sequence[str], view_of: np.ndarray, params: Params) -> Part:
    places = np.flatnonzero(view_of == view)
    # a name that several views have may come with its view: “TP53 (mrna)”
    own = [features[int(index)].removesuffix(f" ({view})") for index in places]
    matched = match(sets, own, params["ignore_case"])
    sizes = matched.sizes
    largest = min(params["largest"], len(places) - 1)  # something has to be outside
    tested = np.flatnonzero((sizes >= params["smallest"]) & (sizes <= largest))
    return Part(view, places, matched, tested, tuple(matched.places[s] for s in tested))


def _nothing(sets: GeneSets, parts: Sequence[Part], features: Sequence[str], params: Params) -> ModelError:
    genes, matched = sets.genes, sum(part.matched.genes for part in parts)
    case = sum(part.matched.only_case for part in parts)
    if not matched:
        hint = "Check that both use the same names, such as gene symbols."
        if case:
            hint = (
                f"{case} match when upper and lower case are the same: choose “Ignore upper and lower case”."
            )
        return ModelError(
            f"None of the {counted(len(genes), 'gene')} of the file is among the {counted(len(features), 'feature')}. "
            f"First names: “{genes[0]}” and “{features[0]}”.",
            hint,
        )
    largest = max(int(part.matched.sizes.max(initial=0)) for part in parts)
    return ModelError(
        f"No set has {params['smallest']} to {params['largest']} of its genes among the features; the most that one "
        f"set has is {largest}.",
        "Lower the smallest set, or choose another file.",
    )


def _directions(params: Params) -> tuple[str, ...]:
    return {"apart": ("positive", "negative"), "size": ("size",)}.get(
        params["direction"], ("positive", "negative", "size")
    )


def _tests(weights: np.ndarray, used: Sequence[Part], params: Params, report: Any) -> list[Test]:
    rng = np.random.default_rng(params["seed"])
    jobs = [
        (part, factor, direction)
        for part in range(len(used))
        for factor in range(len(weights))
        for direction in _directions(params)
    ]
    by_rank, tests = params["test"] == "rank", []
    for number, (part, factor, direction) in enumerate(jobs):
        values, members = one_sided(weights[factor, used[part].places], direction), used[part].members
        found = compare_sets(values, members, by_rank, params["within"], 0.95)
        if params["permutations"]:

            def progress(share: float, done: int = number) -> None:
                report(0.05 + 0.9 * (done + share) / len(jobs))

            p = permuted_p(values, members, by_rank, params["permutations"], rng, progress)
            found = SetTests(found.effect, found.low, found.high, found.auc, p)
        tests.append(Test(part, factor, direction, found))
        report(0.05 + 0.9 * (number + 1) / len(jobs))
    return tests
