"""What the set-up says a matrix is taken as is what is fitted, whatever the settings and the number of columns."""

import numpy as np
import pytest
from together_tools import oblique

from plaidwork.core.data.dataset import Dataset
from plaidwork.core.inference.plan import make_plan
from plaidwork.core.plugins.registry import registry
from plaidwork.gui.setup.form import HyperparameterForm
from plaidwork.plugins.dirichlet_processes.reading import kinds_of
from plaidwork.plugins.group_factor.inputs import likelihoods_of

RNG = np.random.default_rng(1)
WAIT = 20_000


def _table(name, values, kind, **more):
    axes = tuple(f"r{i}" for i in range(values.shape[0])), tuple(f"c{j}" for j in range(values.shape[1]))
    return Dataset(name, values.astype(float), *axes, kind=kind, **more)


TABLES = [
    _table("apart", RNG.normal(size=(30, 4)), "real"),
    _table("few", oblique(RNG, 30, 4), "real"),
    _table("sixty", oblique(RNG, 30, 60), "real"),
    _table("many", oblique(RNG, 30, 61), "real"),
    _table("grades", RNG.integers(1, 6, (30, 5)), "ordinal"),
    _table("sums of grades", np.cumsum(RNG.integers(1, 6, (30, 5)), axis=1), "ordinal"),
    _table("many grades", RNG.integers(1, 6, (30, 20)), "ordinal"),
    _table("counts", RNG.poisson(3, (30, 5)), "count"),
    _table("bits", RNG.integers(0, 2, (30, 5)), "binary"),
    _table("whole", RNG.integers(0, 9, (30, 5)), "real"),
]
TURNED = _table("turned", oblique(RNG, 30, 5).T, "real", samples_in="columns")


def shown(qtbot, form, tables):
    """What each line says, once the data were looked at."""
    form.set_matrices("views", tables)
    edit = form.field("likelihoods").editor
    qtbot.waitUntil(lambda: all(line.note for line in edit.lines), timeout=WAIT)
    return edit


@pytest.mark.parametrize("model", ["group_factor", "dp_mixture", "multi_view_clusters"])
def test_what_is_shown_is_what_is_fitted(qtbot, model):
    found = registry().model(model)
    form = HyperparameterForm(found.spec)
    qtbot.addWidget(form)
    edit = shown(qtbot, form, TABLES)
    labels = {choice.value: choice.label for choice in edit._parameter.choices}
    known = {setting.name for setting in found.spec.hyperparameters}
    changes = (
        {},
        {"whole_numbers": "values"},
        {"log_above": 0.0},
        {"correlated_columns": 4},
        {"judge_columns": False},
        {"correlated_columns": 100},
    )
    for params in ({key: value for key, value in one.items() if key in known} for one in changes):
        form.reset()
        form.set_values(params)
        plan = make_plan(found, {"views": TABLES}, params)
        blocks = plan.data["views"]
        taken = (
            likelihoods_of(blocks, plan.params) if model == "group_factor" else kinds_of(plan.params, blocks)
        )
        for line, word in zip(edit.lines, taken, strict=True):
            wanted = f"taken as {labels[word][:1].lower()}{labels[word][1:]}"
            assert wanted in line.note, (line.name, params)


def test_the_form_says_why_columns_are_taken_as_correlated_or_not(qtbot):
    """Where the columns decide: not of counts, of more columns than the limit, where something is chosen, or the number alone decides."""
    form = HyperparameterForm(registry().model("dp_mixture").spec)
    qtbot.addWidget(form)
    lines = {line.name: line for line in shown(qtbot, form, TABLES).lines}
    go, not_so = (
        f"Its columns {words} together within groups of similar samples." for words in ("go", "do not go")
    )
    said = {name: line.reason for name, line in lines.items()}
    wanted = {
        "apart": not_so,
        "few": go,
        "sixty": go,
        "grades": not_so,
        "many grades": not_so,
        "sums of grades": go,
    }
    assert said == {name: wanted.get(name, "") for name in lines}
    form.set_values({"judge_columns": False})
    assert not any(line.reason for line in lines.values())
    form.set_values({"judge_columns": True, "likelihoods": "few = gaussian"})
    assert [lines[name].reason for name in ("apart", "few")] == [not_so, ""]


def test_columns_are_counted_once_samples_are_in_rows(qtbot):
    """Thirty samples of five columns, which are few, lie in a table of thirty columns."""
    form = HyperparameterForm(registry().model("dp_mixture").spec)
    qtbot.addWidget(form)
    edit = shown(qtbot, form, [TURNED])
    assert "columns correlated within a cluster" in edit.lines[0].note
