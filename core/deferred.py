"""Arrays that are read when somebody first needs them, and what holds them without anybody else noticing."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np


class Deferred:
    """An array (or a sparse matrix) that ``read`` reads when it is first asked for; shape and type are known before.

    Any thread may ask: the first one reads, others wait for it.
    """

    stays = False
    """Whether the array is too large to be kept by what holds it: then whoever asks has it for as long as it wants to."""

    def __init__(
        self,
        shape: tuple[int, ...],
        dtype: Any,
        read: Callable[[], Any] | None = None,
        *,
        nbytes: int = -1,
        sparse: bool = False,
    ) -> None:
        self.shape, self.dtype, self.sparse = tuple(shape), np.dtype(dtype), sparse
        self.nbytes = math.prod(self.shape) * self.dtype.itemsize if nbytes < 0 else nbytes
        self.waits = True
        """Whether nobody has read it yet."""
        self._read = read
        self._found: Any = None
        self._lock = threading.Lock()

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def row_cost(self) -> int:
        """Bytes that are read for one row far from others."""
        return int(self.nbytes // max(1, self.shape[0])) if self.shape else int(self.nbytes)

    def cells(self) -> Any:
        """What goes through the file of an array that stays there."""
        raise NotImplementedError

    def get(self) -> Any:
        """The array itself, kept from now on. Raises what reading raises, and reads again when asked again."""
        with self._lock:
            if self.waits:
                self._found, self.waits = self._fetch(), False
            return self._found

    def every(self, step: int) -> Any:
        """Every ``step``-th along the first axis, without reading the others; None where nothing but reading all would do."""
        found = self._found
        return self._part(step) if self.waits or found is None else found[::step]

    def _part(self, step: int) -> Any:
        return None

    def _fetch(self) -> Any:
        assert self._read is not None
        found, self._read = self._read(), None
        return found


class Holder:
    """Base of frozen data classes with a field (``values``, or what ``_HELD`` names) that may be given as :class:`Deferred`.

    The field is then empty until somebody asks for it; :attr:`held` tells shape and type without reading.
    """

    __slots__ = ("_later",)
    _later: Deferred | None
    _HELD: ClassVar[str] = "values"

    def _hold(self) -> bool:
        """Put away what is to be read later; whether it is. For ``__post_init__``."""
        found = getattr(self, self._HELD)
        later = found if isinstance(found, Deferred) else None
        object.__setattr__(self, "_later", later)
        if later is not None:
            object.__delattr__(self, self._HELD)
        return later is not None

    def _taken(self, values: Any) -> Any:
        """Values that were read, as the field has them."""
        return values

    if TYPE_CHECKING:

        @property
        def values(self) -> Any: ...

    else:

        def __getattr__(self, name: str) -> Any:
            later = getattr(self, "_later", None) if name == self._HELD else None
            if later is None:  # or another thread has just read them
                return object.__getattribute__(self, name)
            found = self._taken(later.get())
            if later.stays:
                return found
            object.__setattr__(self, name, found)
            object.__setattr__(self, "_later", None)
            return found

    @property
    def at_hand(self) -> bool:
        """Whether the values are in memory, so that asking for them takes no time."""
        held = self.held
        return not (isinstance(held, Deferred) and held.waits)

    @property
    def held(self) -> Any:
        """The values, or, where nobody has needed them yet, what will read them."""
        return getattr(self, "_later", None) or getattr(self, self._HELD)
