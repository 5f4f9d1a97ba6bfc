"""The conformance suite: what every model must hold, as checks that a test can call one by one.

In a test of a plugin::

    from plaidwork.core.checks import checks_for

    @pytest.mark.parametrize("check", checks_for("my.model"), ids=str)
    def test_conforms(check):
        check()

or at once: ``report = check_model("my.model"); assert report.ok, report.text()``. On the command line:
``plaidwork plugin check my.model``. What each check means: docs/plugins.md.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from plaidwork.core.checks import (
    clean,
    declaration,
    degenerate,
    objective,
    optional,
    prior,
    repeatable,
    results,
    storing,
    timing,
)
from plaidwork.core.checks._bench import Bench
from plaidwork.core.checks._check import LEVELS, TEMPLATES, Check, CheckFailed, CheckSkipped, Template
from plaidwork.core.checks._report import Report, Row, run_checks
from plaidwork.core.contract.model import Model
from plaidwork.core.contract.spec import ModelSpec
from plaidwork.core.errors import SettingError
from plaidwork.core.plugins.registry import registry

__all__ = [
    "Check",
    "CheckFailed",
    "CheckSkipped",
    "Report",
    "Row",
    "check_model",
    "checks_for",
    "known_checks",
]

ModelLike = str | Model[Any, Any] | type[Model[Any, Any]]

GROUPS = (
    declaration, results, repeatable, storing, clean, timing, degenerate, objective, optional, prior
)  # fmt: skip
"""In the order of the report: what the later ones rely on comes first."""


def _templates() -> list[Template]:
    order = [group.__name__.rsplit(".", 1)[-1] for group in GROUPS]
    return sorted(TEMPLATES, key=lambda template: order.index(template.group))


def known_checks() -> tuple[tuple[str, str, str, str], ...]:
    """(id, group, title, doc) of every check."""
    return tuple((item.id, item.group, item.title, item.doc) for item in _templates())


def checks_for(
    model: ModelLike,
    *,
    only: Iterable[str] | None = None,
    skip: Iterable[str] | None = None,
    level: str = "quick",
    seed: int = 1,
) -> list[Check]:
    """The checks of a model, to be called one by one.

    Parameters
    ----------
    model : id of an installed model, a model class or an instance.
    only, skip : ids or groups of checks; an id with its case, such as ``"geweke[default]"``, or without.
    level : ``"quick"`` (seconds to a minute) or ``"full"`` (minutes: more draws for the tests against the prior).
    seed : decides all random choices of the checks.
    """
    if level not in LEVELS:
        raise SettingError(f"The level must be one of {', '.join(LEVELS)}. Found “{level}”.")
    bench = Bench(instance(model), level, seed)
    found = [item for template in _templates() for item in _instances(template, bench)]
    keep, drop = (_chosen(words, found) for words in (only, skip))
    return [item for item in found if (only is None or item.id in keep) and item.id not in drop]


def check_model(
    model: ModelLike,
    *,
    only: Iterable[str] | None = None,
    skip: Iterable[str] | None = None,
    level: str = "quick",
    seed: int = 1,
    progress: Callable[[Row], None] | None = None,
) -> Report:
    """Run the checks of a model; see :func:`checks_for`. ``progress`` gets every row as it is done."""
    model = instance(model)
    report = Report(model.spec.id, model.spec.version, level, seed)
    return run_checks(report, checks_for(model, only=only, skip=skip, level=level, seed=seed), progress)


def instance(model: ModelLike) -> Model[Any, Any]:
    """The model to check. Raises ``SessionError`` for an unknown id and ``CheckFailed`` for what is no model."""
    if isinstance(model, str):
        return registry().model(model)
    if isinstance(model, type):
        name = f"{model.__module__}.{model.__qualname__}"
        if not (issubclass(model, Model) and isinstance(getattr(model, "spec", None), ModelSpec)):
            raise CheckFailed(f"{name} is not a Model with a ModelSpec named spec.")
        if missing := model.lacks():
            raise CheckFailed(f"{name} has no method {', '.join(missing)}.")
        try:
            return model()
        except Exception as error:
            raise CheckFailed(f"{name} cannot be made: {type(error).__name__}: {error}") from error
    return model


def _instances(template: Template, bench: Bench) -> list[Check]:
    def one(id: str, run: Callable[[], None]) -> Check:
        return Check(id, template.group, template.title, template.doc, run)

    if template.cases is None:
        return [one(template.id, partial(template.run, bench))]
    return [
        one(f"{template.id}[{name}]", partial(template.run, bench, case))
        for name, case in template.cases(bench)
    ]


def _chosen(words: Iterable[str] | None, checks: list[Check]) -> set[str]:
    chosen: set[str] = set()
    for word in words or ():
        hits = {item.id for item in checks if word in (item.id, item.group, item.id.split("[")[0])}
        if not hits and word not in {
            name for template in TEMPLATES for name in (template.id, template.group)
        }:
            known = sorted({name for item in checks for name in (item.id, item.group, item.id.split("[")[0])})
            near = difflib.get_close_matches(word, known, n=1)
            hint = (
                f"Did you mean “{near[0]}”?"
                if near
                else f"Groups: {', '.join({item.group: 0 for item in checks})}."
            )
            raise SettingError(f"There is no check “{word}”.", hint)
        chosen |= hits
    return chosen
