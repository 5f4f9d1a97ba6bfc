"""Installs plugins into a folder of their own; the packages that Plaidwork runs with are never changed.

Two steps, so that what is asked is what is done: ``look_up`` says which distributions would come, fixed by their
checksums, and ``install`` fetches exactly these into a temporary folder and moves them in place when all is well.
The versions of the host's packages are constraints of the search, and none of them is fetched again.
"""

from plaidwork.core.plugins.plugin_install.put import install, uninstall, would_remove
from plaidwork.core.plugins.plugin_install.search import has_pip, look_up
from plaidwork.core.plugins.plugin_install.site import (
    SITE,
    Installed,
    Offer,
    Part,
    Progress,
    host_packages,
    installed,
    site_folder,
)

__all__ = [
    "SITE",
    "Installed",
    "Offer",
    "Part",
    "Progress",
    "has_pip",
    "host_packages",
    "install",
    "installed",
    "look_up",
    "site_folder",
    "uninstall",
    "would_remove",
]
