"""``plugin new``, ``plugin install`` and ``plugin uninstall``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from plaidwork.core.cli.printing import tell, warn
from plaidwork.core.draws.counting import counted
from plaidwork.core.errors import PluginError, SettingError
from plaidwork.core.quoting import shell

DONE, STOPPED = 0, 4


def new(options: argparse.Namespace) -> int:
    """``plaidwork plugin new NAME [--folder DIR]``."""
    from plaidwork.core.plugins.scaffold import create

    made = create(options.name, options.folder)
    tell(f"Wrote {made.root}")
    for path in made.files:
        tell(f"  {path.as_posix()}")
    tell("Next, in that folder:")
    tell('  pip install -e ".[test]"')
    tell("  pytest")
    tell(
        f"  plaidwork fit {made.model_id} --input {shell('X=' + made.data.as_posix())} --out first.plaidwork"
    )
    return DONE


def install(options: argparse.Namespace) -> int:
    """``plaidwork plugin install WHAT [--yes]``: asks before anything is installed."""
    from plaidwork.core.plugins import plugin_install

    message = ""

    def progress(text: str) -> None:
        nonlocal message
        if text != message and sys.stderr.isatty():
            warn(text)
        message = text

    with _refused():
        offer = plugin_install.look_up(options.what, progress)
    replaced = f" in place of {offer.replaces}" if offer.replaces else ""
    tell(f"{offer.name} {offer.version}{replaced}: {offer.summary or 'no description'}")
    for part in offer.parts:
        if part is not offer.parts[0]:
            tell(f"  and {part}, which it needs")
        tell(f"    from    {part.source}")
        tell(f"    sha256  {part.sha256 or 'not told by its source'}")
        if part.file is not None:
            tell(f"    writes  {', '.join(part.tops)} and its record, {counted(part.size, 'byte')} in all")
    tell(f"  into {offer.site}")
    tell("  The packages that Plaidwork runs with stay as they are.")
    if not _agreed(options.yes, "A plugin can do all that you can do on this computer. Install it?"):
        return STOPPED
    with _refused():
        done = plugin_install.install(offer, progress)
    tell(f"Installed {done}. Plugins: {', '.join(done.points)}")
    return DONE


def uninstall(options: argparse.Namespace) -> int:
    """``plaidwork plugin uninstall NAME [--yes]``."""
    from plaidwork.core.plugins import plugin_install

    with _refused():
        names = plugin_install.would_remove(options.name)
    tell(f"Removes {', '.join(names)} from {plugin_install.site_folder()}")
    if not _agreed(options.yes, "Sessions made with it open and show their results. Go on?"):
        return STOPPED
    with _refused():
        tell(f"Removed {', '.join(plugin_install.uninstall(options.name))}")
    return DONE


@contextmanager
def _refused() -> Iterator[None]:
    """A plugin that cannot be installed is bad input, not a model that failed."""
    try:
        yield
    except PluginError as error:
        raise SettingError(error.message, error.hint) from error


def _agreed(yes: bool, question: str) -> bool:
    if yes:
        return True
    if not sys.stdin.isatty():
        raise SettingError("Nobody is there to answer the question.", "Add --yes to agree.")
    try:
        return input(f"{question} [y/N] ").strip().lower() in ("y", "yes")
    except EOFError:
        return False
