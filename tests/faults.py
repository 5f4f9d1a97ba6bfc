"""Planted faults: a right model with one thing wrong, and the check that has to say so."""

from contextlib import suppress
from dataclasses import replace

import pytest
from conforming import Bound, Means

from plaidwork.core.checks import CheckFailed, CheckSkipped, checks_for


def respec(base=Means, **changes):
    """The right model with another declaration."""
    return type("Faulty", (base,), {"spec": replace(base.spec, **changes), "__module__": __name__})


def checks(model, name):
    """The checks of that id, all cases."""
    return checks_for(model, only=[name])


def caught(model, name, *words, case=""):
    """The check fails on the faulty model with these words in its message, and on no right model."""
    one = model() if isinstance(model, type) else model
    failures = []
    for item in checks(one, name):
        try:
            item()
        except CheckSkipped:
            continue
        except CheckFailed as error:
            failures.append((item.id, error))
    assert failures, f"{name} does not see the fault"
    text = next((str(error) for id_, error in failures if case in id_), "")
    assert text.startswith(one.spec.id), text
    for word in words:
        assert word in text, text
    passes(next(base for base in (Bound, Means) if isinstance(one, base)), name)
    return text


def passes(model, name):
    """The check passes, or does not apply."""
    for item in checks(model, name):
        with suppress(CheckSkipped):
            item()


def skipped(model, name):
    """The check says why it does not apply."""
    for item in checks(model, name):
        with pytest.raises(CheckSkipped):
            item()
