"""Build hook that gives an editable install the wheel's import name."""

import os
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PACKAGES = ("core", "gui", "plugins", "resources")


class LinkTree(BuildHookInterface):
    """Lay links in ``.dev/plaidwork``, so that ``import plaidwork.core`` finds the folder at the root."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version != "editable":
            return
        tree = Path(self.root, ".dev", "plaidwork")
        tree.mkdir(parents=True, exist_ok=True)
        for name in PACKAGES:
            link, folder = tree / name, Path(self.root, name)
            if link.exists():
                continue
            link.unlink(missing_ok=True)  # a dangling link of a moved checkout
            if os.name == "nt":  # a junction needs no administrator rights
                import _winapi

                _winapi.CreateJunction(str(folder), str(link))
            else:
                link.symlink_to(os.path.relpath(folder, tree))
