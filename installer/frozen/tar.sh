#!/bin/sh
# Pack the frozen folder, with a hint how to install it: tar.sh FOLDER OUT VERSION. Called by build.sh.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
folder=$1 out=$2 version=$3
# shellcheck source=installer/steps.sh
. "$root/installer/steps.sh" # the libraries that Qt needs, and the entries

tree=$(mktemp -d -p "$out")
trap 'rm -rf "$tree"' EXIT
cp -al "$folder" "$tree/plaidwork" # the same files, without their bytes again
put() { install -Dm644 "$1" "$tree/plaidwork/share/$2/$3"; }
entries put
cat >"$tree/plaidwork/INSTALL.txt" <<END
Plaidwork $version for Linux, 64-bit x86, with the C library 2.36 or newer (that of Debian 12).

This folder runs from any place:

  ./plaidwork

To have it as a command and in the menu, for you alone, move the folder to where it may stay, go into it, and type:

  mkdir -p ~/.local/bin ~/.local/share
  ln -sf "\$PWD/plaidwork" ~/.local/bin/plaidwork
  cp -r share/. ~/.local/share/
  update-mime-database ~/.local/share/mime
  update-desktop-database ~/.local/share/applications

~/.local/bin has to be on your PATH when you log in. If the window does not open, libraries of the system may be missing. On
Debian and Ubuntu these packages have them:

  $(echo $libraries)

Does it work? ./plaidwork --smoke /tmp/smoke opens the window, fits an example, saves it and reads it again.

To uninstall: delete this folder and these files.

  ~/.local/bin/plaidwork
$(list() { printf '  ~/.local/share/%s/%s\n' "$2" "$3"; }; entries list)

LICENCES.txt has the licences of everything in this folder, and sbom.cdx.json is the list of it.
END
tar -C "$tree" --sort=name --mtime="@${SOURCE_DATE_EPOCH:-0}" --owner=0 --group=0 --numeric-owner \
    --mode=u=rwX,go=rX -cf - plaidwork | zstd -q -T0 -10 -f -o "$out/plaidwork-$version-linux-x86_64.tar.zst"
