"""Pieces of one-dimensional arrays as arrays of their own, and arrays as they are, at no cost: no check, no count of references.

A slice that numba reshapes costs some 50 ns, as its owner is counted and its layout is checked, and a sample needs some thirty of them for
each view. A piece has no owner: it lives no longer than the kernel that cuts it, whose caller holds the whole. It must not be returned to Python.
"""

from __future__ import annotations

from typing import Any

from numba import types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.extending import intrinsic
from numba.np.arrayobj import make_array, populate_array


def _piece(whole: Any, sizes: int) -> tuple[Any, Any]:
    """Signature and code of a piece of ``whole`` with so many dimensions."""
    if whole.ndim != 1 or whole.layout != "C":
        raise TypingError("Pieces are of one-dimensional arrays without gaps.")
    kind = types.Array(whole.dtype, sizes, "C", readonly=not whole.mutable, aligned=whole.aligned)
    signature = kind(whole, types.intp, *[types.intp] * sizes)

    def code(context: Any, builder: Any, found: Any, args: Any) -> Any:
        array = make_array(whole)(context, builder, args[0])
        size = context.get_abi_sizeof(context.get_data_type(whole.dtype))
        strides = [context.get_constant(types.intp, size)]
        for width in args[:2:-1]:
            strides.insert(0, builder.mul(strides[0], width))
        out = make_array(kind)(context, builder)
        populate_array(
            out,
            data=cgutils.gep_inbounds(builder, array.data, args[1]),
            shape=list(args[2:]),
            strides=strides,
            itemsize=size,
            meminfo=None,
        )
        return out._getvalue()

    return signature, code


@intrinsic
def stretch(_context: Any, flat: Any, lo: Any, size: Any) -> tuple[Any, Any]:
    """``flat[lo : lo + size]``."""
    return _piece(flat, 1)


@intrinsic
def cut(_context: Any, flat: Any, lo: Any, rows: Any, columns: Any) -> tuple[Any, Any]:
    """``flat[lo : lo + rows * columns]`` as an array (rows, columns)."""
    return _piece(flat, 2)


@intrinsic
def fetch(_context: Any, whole: Any, row: Any, column: Any) -> tuple[Any, Any]:
    """Ask the processor for the line of its cache that has ``whole[row, column]``, an array without gaps; changes nothing."""
    if not isinstance(whole, types.Array) or whole.ndim != 2 or whole.layout != "C":
        raise TypingError("Only arrays of two dimensions without gaps are fetched.")

    def code(context: Any, builder: Any, found: Any, args: Any) -> Any:
        array = make_array(whole)(context, builder, args[0])
        width = builder.extract_value(array.shape, 1)
        place = cgutils.gep_inbounds(builder, array.data, builder.add(builder.mul(args[1], width), args[2]))
        text, number = cgutils.voidptr_t, cgutils.int32_t
        code_of = cgutils.ir  # what numba writes its code with
        kind = code_of.FunctionType(code_of.VoidType(), [text, number, number, number])
        ask = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
        builder.call(
            ask, [builder.bitcast(place, text), number(0), number(3), number(1)]
        )  # to read, to keep, data
        return context.get_dummy_value()

    return types.void(whole, types.intp, types.intp), code


def _without_owners(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    """The arrays and generators in ``value`` with nobody who counts references to them."""
    if isinstance(kind, (types.Array, types.NumPyRandomGeneratorType)):
        found = cgutils.create_struct_proxy(kind)(context, builder, value=value)
        found.meminfo = cgutils.get_null_value(found.meminfo.type)
        return found._getvalue()
    if isinstance(kind, types.BaseTuple):
        for place, inner in enumerate(kind):
            part = _without_owners(context, builder, inner, builder.extract_value(value, place))
            value = builder.insert_value(value, part, place)
    return value


@intrinsic
def borrowed(_context: Any, whole: Any) -> tuple[Any, Any]:
    """An array, a generator, or a tuple of such and of numbers, as it is, but without an owner whose references are counted.

    Counting is atomic, some 5 ns each time, and a kernel that takes tuples of arrays apart in its loops did little else. For arguments alone,
    which the caller holds: an array that a kernel has made itself goes when its last name that is not borrowed does.
    """

    def code(context: Any, builder: Any, found: Any, args: Any) -> Any:
        return _without_owners(context, builder, found.args[0], args[0])

    return whole(whole), code
