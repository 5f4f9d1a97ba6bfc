"""For models of sparse matrices that may stay out of memory (``Block.mapped``): what is made of one stays out of it as well.

Matrices are CSR. What comes back is mapped, and cannot be written to; scratch files need room on the disk, and a ``DataError`` says
in words when there is none.
"""

from plaidwork.core.data.mapped import new_values, row_blocks, scratch_array, taken

__all__ = ["new_values", "row_blocks", "scratch_array", "taken"]
