"""Beside every setting stands what it means: a sentence, not a word."""

from plaidwork.core.plugins.registry import registry

FEWEST = 40
"""Letters below which a help says hardly more than the name."""


def test_every_setting_of_models_and_analyses_says_what_it_means():
    found = registry().ready()
    specs = [*found.specs(), *(analysis.spec for analysis in found._catalogue["analyses"].values())]
    settings = {f"{spec.id}.{one.name}": one.doc for spec in specs for one in spec.hyperparameters}
    assert len(settings) > 250
    assert {name: doc for name, doc in settings.items() if not _is_sentence(doc)} == {}


def _is_sentence(doc: str) -> bool:
    return len(doc) >= FEWEST and doc.endswith((".", "?")) and (doc[0].isupper() or not doc[0].isalpha())
