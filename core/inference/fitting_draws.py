"""Whether the draws of a run that comes from a file fit its data: asked before the model gets them, once for a run."""

from __future__ import annotations

from collections.abc import Iterator

from plaidwork.core.contract.layout import Layout, Part
from plaidwork.core.contract.model import Model
from plaidwork.core.contract.model_data import Block, ModelData
from plaidwork.core.contract.plugin_info import blamed
from plaidwork.core.contract.spec import ModelSpec, Variable
from plaidwork.core.draws.counting import counted
from plaidwork.core.draws.draws import ChainView
from plaidwork.core.errors import SessionError
from plaidwork.core.inference.run import Run

_KINDS = {"float": "f", "int": "iu", "count": "iu", "bool": "bu"}
"""Kinds of stored entries; flags may be packed into bytes."""
HINT = "The file is damaged, or somebody changed it. Fit again with the same settings."


def check_draws(run: Run, model: Model, data: ModelData) -> None:
    """Raise ``SessionError`` when draws or settings of a run from a file are not such as its model makes of these data.

    Draws have the types and dims that the model declares, these as long as the data, one dim of a chain of one length; whole numbers lie
    in the ranges of ``Model.draw_layout``. ``SettingError`` is raised for a setting that the model does not take.
    """
    if not run.foreign:
        return
    params = model.spec.stored_params(run.params)
    for setting in model.spec.hyperparameters:
        setting.check(params[setting.name])
    with blamed(model, "draw_layout"):
        layout = model.draw_layout(data, params)
    lengths = _lengths(model.spec, data)
    for chain in run.kept().chains:
        for wrong in _wrong(run.spec, model.spec, chain, dict(lengths), layout):
            raise SessionError(
                f"The draws of {run.title} do not fit its data and settings: chain {chain.chain + 1} has {wrong}.",
                HINT,
            )
    run.foreign = False


def _lengths(spec: ModelSpec, data: ModelData) -> dict[str, int]:
    """Lengths of the dims of inputs; those of inputs that take many only where they are shared."""
    found: dict[str, int] = {}
    for item in spec.inputs:
        blocks = data.get(item.name, ())
        for block in (blocks,) if isinstance(blocks, Block) else blocks:
            shape = block.shape
            found |= {dim: shape[axis] for axis, dim in enumerate(item.dims) if not (item.many and axis == 1)}
    return found


def _wrong(
    stored: ModelSpec, spec: ModelSpec, chain: ChainView, lengths: dict[str, int], layout: Layout
) -> Iterator[str]:
    """What of a chain's draws is not as declared, as parts of a sentence."""
    today = {variable.name: variable for variable in spec.variables}
    for variable in stored.variables:
        declared = today.get(variable.name)
        if declared is None:
            continue  # of another version; the model does not ask for it
        called = f"“{variable.name}”"
        if (variable.dims, variable.ragged) != (declared.dims, declared.ragged) or (
            _KINDS[variable.dtype] != _KINDS[declared.dtype]
        ):
            yield f"{called} of other dims or another type than the model declares"
        if wrong := _shape(chain, variable, lengths):
            yield f"{called} {wrong}"
        part = layout.get(variable.name)
        if part is not None and (wrong := _range(chain, variable, part, lengths)):
            yield f"{called} {wrong}"


def _shape(chain: ChainView, variable: Variable, lengths: dict[str, int]) -> str:
    """What is wrong with the shape and type; lengths of dims that are the model's own are noted."""
    later = chain.stored(variable.name)
    kinds = (
        {later.array.dtype.kind}
        if later is not None
        else {entry.dtype.kind for entry in chain.packed(variable.name)}
    )
    if not kinds <= set(_KINDS[variable.dtype]):
        return f"of kind {'/'.join(sorted(kinds))}, expected {variable.dtype}"
    fixed, dims = chain.fixed_shape(variable.name), variable.dims[variable.ragged :]
    if len(fixed) != len(dims):
        return f"with {counted(len(fixed), 'axis')} for the dims {dims}"
    for dim, length in zip(dims, fixed):
        if lengths.setdefault(dim, length) != length:
            return f"with {length} along “{dim}”, expected {lengths[dim]}"
    return ""


def _range(chain: ChainView, variable: Variable, part: Part, lengths: dict[str, int]) -> str:
    below = lengths.get(part.below) if isinstance(part.below, str) else part.below
    for draw in chain.iterate(variable.name):
        if draw.size and part.low is not None and draw.min() < part.low:
            return f"with {draw.min()}, expected {part.low} at least"
        if draw.size and below is not None and draw.max() >= below:
            return f"with {draw.max()}, expected less than {below}"
    return ""
