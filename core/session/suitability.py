"""Which models suit which data, and which data go into which input of a model.

The data in *focus* decide: those just imported, shown, or of a run. Labels, splits and the like come from the same data,
or from data with the same samples; data that have nothing to do with the focus are never put in.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress

import numpy as np

from plaidwork.core.contract.model import Problem
from plaidwork.core.contract.spec import Input, ModelSpec
from plaidwork.core.data.annotation_inputs import (
    column_dataset,
    parse_column,
)
from plaidwork.core.data.dataset import Dataset, with_free_name
from plaidwork.core.data.joining import has_default_names
from plaidwork.core.data.measured import held_levels
from plaidwork.core.data.orienting import samples_axis
from plaidwork.core.errors import PlaidworkError
from plaidwork.core.inference.plan import make_plan
from plaidwork.core.plugins.registry import Registry
from plaidwork.core.session.offers import (
    Offer,
    given_names,
    holds_categories,
    is_about,
    is_of_size,
    meant_for,
    meet,
    offer,
    reason,
    sample_names,
    suits,
    views_with,
    wants,
)

Names = Mapping[str, Sequence[str]]
"""By input: names of datasets, or of annotation columns (``DATASET:row:TITLE``)."""


# -- all inputs of a model ----------------------------------------------------------------------
class Choices:
    """Answers about the data of a session; made anew when they change.

    ``focus`` below are names of datasets of the session; none means all of them.
    """

    def __init__(self, session: Mapping[str, Dataset]) -> None:
        self.session = dict(session)
        self._offers: dict[Input, Offer] = {}
        self._items: dict[str, tuple[tuple[set[str], ...], set[str]]] = {}

    def offer(self, item: Input) -> Offer:
        """What there is for an input."""
        if item not in self._offers:
            self._offers[item] = offer(item, self.session)
        return self._offers[item]

    def base(self, name: str) -> Dataset | None:
        """The dataset of that name, or the one whose annotation column it names."""
        ref = None if name in self.session else parse_column(name, self.session)
        return self.session.get(ref.dataset if ref is not None else name)

    def bases(self, names: Names) -> list[str]:
        """Names of the datasets behind what is chosen, each once, in the order of the inputs."""
        found = [self.base(name) for chosen in names.values() for name in chosen]
        return list(dict.fromkeys(data.name for data in found if data is not None))

    def _focus(self, focus: Sequence[str]) -> list[str]:
        return [name for name in focus if name in self.session] if focus else list(self.session)

    def order(self, focus: Sequence[str]) -> list[str]:
        """All datasets: the focus first, then what has items in common with it, then the rest."""
        first = self._focus(focus)
        rest = [name for name in self.session if name not in first]
        near = [name for name in rest if self._near(name, first)]
        return [*first, *near, *(name for name in rest if name not in near)]

    def related(self, one: str, other: str) -> bool:
        """Whether two datasets have the name of an item in common, two matrices that of a sample.

        Items that are only numbered have no names.
        """
        both = len(self.session[one].shape) == len(self.session[other].shape) == 2
        (first, mine), (second, theirs) = self._named(one), self._named(other)
        return meet(first, second) if both else not mine.isdisjoint(theirs)

    def _named(self, name: str) -> tuple[tuple[set[str], ...], set[str]]:
        """Names of the samples of a dataset, and of all its items."""
        if name not in self._items:
            data = self.session[name]
            items = given_names(data.row_names) | given_names(data.column_names)
            self._items[name] = (sample_names(data) if len(data.shape) == 2 else (), items)
        return self._items[name]

    def _near(self, name: str, others: Iterable[str]) -> bool:
        return any(self.related(name, other) for other in others)

    def _belongs(self, name: str, names: Sequence[str]) -> bool:
        data = self.base(name)
        return data is not None and (data.name in names or self._near(data.name, names))

    def propose(
        self, spec: ModelSpec, focus: Sequence[str] = (), kept: Names | None = None
    ) -> dict[str, list[str]]:
        """What to choose for each input: from the focus, else of data related to it; nothing when the focus is of no use.

        ``kept`` was chosen before, perhaps for another model: it comes first where it suits.
        """
        found = self._assign(spec, focus, kept or {})
        return found if self._used(found, focus) else {}

    def _used(self, found: Names, focus: Sequence[str]) -> int:
        chosen = {name for names in found.values() for name in names}
        return len(chosen.intersection(self._focus(focus)))

    def _assign(self, spec: ModelSpec, focus: Sequence[str], kept: Names) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        inputs, in_focus = {item.name for item in spec.inputs}, self._focus(focus)
        kept = {key: [name for name in names if self._belongs(name, in_focus)] for key, names in kept.items()}
        others = [name for key, names in kept.items() if key not in inputs for name in names]
        others = [name for name in others if set(self.bases({"": (name,)})) <= set(in_focus)]
        for item in sorted(spec.inputs, key=lambda item: self._turn(item, in_focus)):
            before = [*kept.get(item.name, ()), *(others if item.required else ())]
            chosen = self.choose(self.offer(item), focus, before, found)
            if chosen:
                found[item.name] = chosen
        return found

    def _turn(self, item: Input, in_focus: Sequence[str]) -> int:
        """Matrices made for an input go there before one that merely takes them; optional inputs come last."""
        exact = any(self.session[name].kind == item.dtype for name in self.offer(item).ranked(in_focus)[:1])
        return 2 if not item.required else int(not (item.kind == "matrix" and exact))

    def choose(
        self, offered: Offer, focus: Sequence[str] = (), kept: Sequence[str] = (), found: Names | None = None
    ) -> list[str]:
        """What to choose for one input, when the others have what was ``found``; ``kept`` comes first."""
        item, found, in_focus = offered.item, found or {}, self._focus(focus)
        taken = {name for names in found.values() for name in names}
        again = [name for name in kept if name in offered and name not in taken]
        if again:
            return again if item.many else again[:1]
        own = [key for name in in_focus if (key := offered.usual(self.session[name]))]
        came = [key for name in self.bases(found) if (key := offered.usual(self.session[name]))]
        free = [name for name in in_focus if name not in taken]
        if own or not item.required:
            return [*own, *came][:1]
        if not any(name in offered.datasets for name in free):
            if came:
                return came[:1]
            near = self.bases(found) or in_focus
            latest = [name for name in reversed(self.order(in_focus)) if name not in taken]
            free = [name for name in latest if self._near(name, near)]
        ranked = offered.ranked(free)
        return (
            self._together(ranked[0], [n for n in free if n in ranked], bool(focus))
            if item.many and ranked
            else ranked[:1]
        )

    def _together(self, first: str, names: Sequence[str], meant: bool) -> list[str]:
        """The matrix and those with the same samples; numbered samples are the same only where that was ``meant``."""
        data, candidates = self.session[first], [self.session[name] for name in names]
        views = views_with(data, candidates)
        if meant and has_default_names(data.row_names) and samples_axis(data) != 1:
            views = [other for other in candidates if other.row_names == data.row_names]
        return [name for name in names if any(self.session[name] is view for view in views)]

    def complete(self, spec: ModelSpec, names: Names) -> bool:
        """Whether every required input has data."""
        return all(names.get(item.name) for item in spec.inputs if item.required)

    def reason(self, spec: ModelSpec, focus: Sequence[str] = ()) -> str:
        """Why the data in focus cannot be fitted by a model, in one sentence; empty when they can."""
        found, required = self._assign(spec, focus, {}), [item for item in spec.inputs if item.required]
        data = [self.session[name] for name in self._focus(focus)]
        if required and not self._used(found, focus):
            return reason(required[0], data) or f"“{required[0].title}” needs {wants(required[0])}."
        for item in required:
            if item.name not in found and not self._may_choose(item, found):
                beside = (
                    f"“{item.title}” needs {wants(item)} as well: no other data of these samples are there."
                )
                return reason(item, data) or beside
        return ""

    def _may_choose(self, item: Input, found: Names) -> bool:
        main = self.bases(found)
        return any(ref.dataset in main for ref in self.offer(item).all_columns.values())

    def elsewhere(self, spec: ModelSpec, focus: Sequence[str] = ()) -> list[str]:
        """Names of other data of the session that the model can be fitted to."""
        others = [name for name in self.session if name not in self._focus(focus)]
        return [name for name in others if self.complete(spec, self.propose(spec, (name,)))]

    def ranked(
        self, specs: Iterable[ModelSpec], focus: Sequence[str] = (), preferred: Sequence[str] = ()
    ) -> list[str]:
        """Ids of the models that can take data of the focus, the best first.

        Models for which every required input has data come first, then those that use most of the data, then those that leave in
        its file what stays there, then of images those that show them, then those meant for what the data are about (``Input.about``), then
        those meant for data of their size (``Input.least``, ``Input.most``), then
        those made for exactly their kinds, then those that explain an outcome that is there, by how well it suits them (``Input.few``), then the
        ``preferred``.
        """
        return [model for _, model in self.graded(specs, focus, preferred)]

    def graded(
        self, specs: Iterable[ModelSpec], focus: Sequence[str] = (), preferred: Sequence[str] = ()
    ) -> list[tuple[tuple[int, ...], str]]:
        """As :meth:`ranked`, each with its grade: models of equal grades are told apart by what is preferred only."""
        places = {model: rank for rank, model in enumerate(dict.fromkeys(preferred))}
        scored = []
        for spec in specs:
            found = self.propose(spec, focus)
            if found:
                exact = sum(self._suits(item, found) for item in spec.inputs if item.required)
                whole = self.complete(spec, found)
                blind = self._images(found) and not any(view.kind == "image_grid" for view in spec.views)
                used, loads = self._used(found, focus), self._loads(spec, found)
                grade = (
                    int(not whole),
                    -used,
                    int(loads),
                    int(blind),
                    int(not self._is_about(spec, found)),
                    len(self._meant_for_other_sizes(spec, found)),
                    -exact,
                    *self._outcome(spec, found),
                )
                scored.append((grade, places.get(spec.id, len(places)), spec.id))
        return [(grade, model) for grade, _, model in sorted(scored, key=lambda entry: entry[:2])]

    def _outcome(self, spec: ModelSpec, found: Names) -> tuple[int, int, int]:
        """Whether what the model explains is there (-1, else 0), in how many ways it is not what the model is made for, and whether the
        model is one for any size of table, where others are made for small ones."""
        mismatches, sized = [], False
        for item in spec.inputs:
            sized = sized or bool(item.most)
            if item.required and item.kind != "matrix" and found.get(item.name):
                data = self.dataset(item, found[item.name][0])
                mostly = data.n_missing > 0.5 * data.shape[0]
                labels = int(mostly != item.few) + (item.dtype == "ordinal")
                mismatches.append(labels if item.kind == "labels" else int(data.kind == "binary"))
        return -int(bool(mismatches)), sum(mismatches), int(bool(mismatches) and not sized)

    def _suits(self, item: Input, found: Names) -> int:
        """How well the kinds of what is chosen for an input suit it."""
        chosen = [self.session[name] for name in found.get(item.name, ()) if name in self.session]
        return max((suits(item, data) for data in chosen), default=0)

    def _is_about(self, spec: ModelSpec, found: Names) -> bool:
        """Whether the model is meant for what the chosen matrices hold."""
        chosen = {name for names in found.values() for name in names if name in self.session}
        return is_about(
            spec.inputs, [self.session[name] for name in chosen if len(self.session[name].shape) == 2]
        )

    def _meant_for_other_sizes(self, spec: ModelSpec, found: Names) -> list[Input]:
        """The required inputs that are meant for data of another size than those chosen, test samples left out."""
        held = self._held(spec, found)
        return [
            item
            for item in spec.inputs
            if item.required
            and not is_of_size(
                item, [self.session[name] for name in found.get(item.name, ()) if name in self.session], held
            )
        ]

    def _held(self, spec: ModelSpec, found: Names) -> int:
        """How many samples the chosen split keeps from the fit."""
        if not any(item.least or item.most for item in spec.inputs):  # the column need not be read
            return 0
        splits = [
            item for item in spec.inputs if item.kind == "labels" and item.fit_only and not item.required
        ]
        chosen = [self.dataset(item, found[item.name][0]) for item in splits if found.get(item.name)]
        return sum(int(np.isin(data.values, held_levels(data.categories)).sum()) for data in chosen)

    def meant_for(self, spec: ModelSpec, focus: Sequence[str] = ()) -> str:
        """For what data the model is meant, in sentences, where those in focus are of another size or about something else; else empty."""
        found = self.propose(spec, focus)
        other = "" if self._is_about(spec, found) else self._not_about(spec, found)
        sizes = map(meant_for, self._meant_for_other_sizes(spec, found))
        return " ".join([*([other] if other else []), *sizes])

    def _not_about(self, spec: ModelSpec, found: Names) -> str:
        """For what a model is meant that the chosen matrices do not hold, or what they hold that it does not know, in a sentence; or nothing."""
        if any(item.about == "texts" for item in spec.inputs):
            return "Meant for documents and their words."
        chosen = [self.session[name] for names in found.values() for name in names if name in self.session]
        return (
            "Takes the numbers of categories for measurements." if any(map(holds_categories, chosen)) else ""
        )

    def _loads(self, spec: ModelSpec, found: Names) -> bool:
        """Whether data that stay in their file would have to be read as a whole."""
        return any(
            self.session[name].stays and not spec.input(key).in_file
            for key, names in found.items()
            for name in names
            if name in self.session
        )

    def _images(self, found: Names) -> bool:
        """Whether the rows of a chosen matrix are images: grey values, which are no counts of words."""
        return any(self.session[name].image_shape for name in self.bases(found))

    def data(self, spec: ModelSpec, names: Names) -> dict[str, list[Dataset]]:
        """What is named, by input; annotation columns as datasets of their own. Raises ``DataError``."""
        return {
            key: [self.dataset(spec.input(key), name) for name in chosen]
            for key, chosen in names.items()
            if chosen
        }

    def dataset(self, item: Input, name: str) -> Dataset:
        """A dataset of the session, or the annotation column of one as a dataset. Raises ``DataError``."""
        ref = None if name in self.session else parse_column(name, self.session)
        if ref is None:
            return self.session[name]
        return with_free_name(column_dataset(self.session[ref.dataset], ref, item), self.session)


# -- the model to begin with --------------------------------------------------------------------
def best_model(registry: Registry, choices: Choices, focus: Sequence[str] = ()) -> str:
    """The model that suits the data in focus best; any when none does, and empty when none is installed."""
    ranked = choices.ranked(registry.specs(), focus, _usual(registry))
    return next(iter(ranked), "") or next((spec.id for spec in registry.specs()), "")


def suggestion(
    registry: Registry,
    choices: Choices,
    focus: Sequence[str] = (),
    first: str = "",
    inputs: Names | None = None,
) -> tuple[str, dict[str, list[str]]]:
    """A model that starts with the data in focus at its defaults, and what to choose for its inputs.

    ``first`` is tried before all others, with ``inputs``. Of models that suit the data equally well by their kinds, one that
    takes the data as they are comes before one that asks for a transformation of them. Where every model refuses the data
    when it checks them, the one that suits them best by their kinds is given. Slow for large data: not for the GUI thread.
    """
    if first and registry.has(first):
        given = {key: list(names) for key, names in (inputs or {}).items()}
        if _starts(registry, first, choices, given) is not None:
            return first, given
    waiting: tuple[tuple[int, ...], str, dict[str, list[str]]] | None = None
    graded = choices.graded(registry.specs(), focus, _usual(registry))
    for grade, model in graded:
        if waiting is not None and grade != waiting[0]:
            break
        names = choices.propose(registry.model(model).spec, focus)
        warnings = _starts(registry, model, choices, names)
        if warnings is None:
            continue
        if not any(problem.transform for problem in warnings):
            return model, names
        waiting = waiting or (grade, model, names)
    if waiting is not None:
        return waiting[1], waiting[2]
    best = best_model(registry, choices, focus)
    return best, choices.propose(registry.model(best).spec, focus) if best else {}


def _starts(registry: Registry, model: str, choices: Choices, names: Names) -> tuple[Problem, ...] | None:
    """What the model warns of before it starts with these data at its defaults; None where it does not start."""
    found = registry.model(model)
    if not choices.complete(found.spec, names):
        return None
    try:
        return make_plan(found, choices.data(found.spec, names)).warnings
    except (PlaidworkError, KeyError):
        return None


def _usual(registry: Registry) -> list[str]:
    """Models by how many bundled examples they have."""
    with suppress(PlaidworkError):  # a damaged example must not stop the set-up
        return [model for model, _ in Counter(sample.model for sample in registry.samples).most_common()]
    return []
