"""Start Plaidwork from a checkout: ``python main.py`` opens the window.

``python main.py fit ...`` and the other commands work as ``plaidwork`` does.
"""

import sys
from importlib.util import find_spec
from pathlib import Path


def _make_importable() -> None:
    """Give a plain checkout, without an editable install, the import name ``plaidwork``."""
    root = Path(__file__).resolve().parent
    if find_spec("plaidwork") is None:
        from types import ModuleType

        package = ModuleType("plaidwork")
        package.__path__ = [str(root)]  # namespace: plaidwork.core -> core/, and so on
        sys.modules["plaidwork"] = package


_make_importable()  # in the processes of chains too, which import this file under another name
if __name__ == "__main__":
    from plaidwork.core.cli import main

    sys.exit(main())
