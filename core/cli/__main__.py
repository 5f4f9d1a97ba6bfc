"""``python -m plaidwork.core.cli``."""

import sys

from plaidwork.core.cli import main

if __name__ == "__main__":
    sys.exit(main())
