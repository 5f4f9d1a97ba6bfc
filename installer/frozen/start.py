"""What the frozen program starts with.

The sources of the program lie as files in a folder of the bundle, as in a wheel: numba reads them to find its kernels again,
and the conformance suite and plugins read them too.
"""

import sys
from multiprocessing import freeze_support

if __name__ == "__main__":
    freeze_support()  # processes of chains start this file again
    from plaidwork.core.cli import main

    sys.exit(main())
