"""References as BibTeX: every citation of the models is read, and nothing in one is a command."""

import pytest

from plaidwork.core.plugins.registry import registry
from plaidwork.core.report import bibtex
from plaidwork.core.report.methods import RHAT, STACKING


def test_an_article():
    assert bibtex([RHAT]).splitlines() == [
        "@article{vehtari2021rank,",
        "  author = {Vehtari, A. and Gelman, A. and Simpson, D. and Carpenter, B. and Bürkner, P.-C.},",
        "  title = {{Rank-normalization, folding, and localization: an improved R-hat for assessing convergence of MCMC}},",
        "  year = {2021},",
        "  journal = {Bayesian Analysis},",
        "  volume = {16},",
        "  pages = {667--718},",
        "}",
    ]


@pytest.mark.parametrize(
    ("reference", "parts"),
    [
        ("Fong, C., & Grimmer, J. (2016). Discovery of things. Proceedings of the 54th Meeting, 1600-1609.",
         ("@inproceedings{fong2016discovery,", "author = {Fong, C. and Grimmer, J.}", "booktitle = {Proceedings of the 54th Meeting}", "pages = {1600--1609}")),
        ("Teh, Y. W., Beal, M. J. and Blei, D. M. (2006). On it. Journal 101, 1-9.", ("Teh, Y. W. and Beal, M. J. and Blei, D. M.",)),
        ("Velten, B., et al. (2018). Factors. Molecular Biology 14, e8124.", ("Velten, B. and others", "pages = {e8124}")),
        ("Williams, C. (2006). Processes. MIT Press.", ("@book{", "publisher = {MIT Press}")),
        ("A paper of ours, \\input{x} & 5 %", ("@misc{reference,", "note = {A paper of ours, \\textbackslash{}input\\{x\\} \\& 5 \\%}")),
    ],
)  # fmt: skip
def test_other_forms(reference, parts):
    found = bibtex([reference])
    assert all(part in found for part in parts)


def test_every_citation_of_the_models_is_of_the_usual_form():
    lines = [line for spec in registry().specs() for line in spec.citation.splitlines()]
    found = bibtex([*dict.fromkeys(lines), STACKING])
    assert "note =" not in found
    keys = [line for line in found.splitlines() if line.startswith("@")]
    assert len(keys) == len(set(keys)) == len({*lines}) + 1
