#!/bin/sh
# Take out what install.sh has installed. Sessions are not touched.
#
#   sh uninstall.sh [--user | --prefix DIR] [--purge]
#
# Without --prefix: the installation that this copy lies in, else the one in ~/.local. --purge also removes what the program
# has kept for you: settings, recovered work, plugins that you added, compiled kernels.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
prefix=${HOME:?}/.local
if [ -f "$here/installed.txt" ]; then prefix=$(cd "$here/../.." && pwd); fi
purge=
while [ $# -gt 0 ]; do
    case $1 in
        --user) prefix=$HOME/.local ;;
        --prefix) [ $# -gt 1 ] || { echo "--prefix needs a folder." >&2; exit 2; }; prefix=$2; shift ;;
        --purge) purge=1 ;;
        *) sed -n '2,7s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
    esac
    shift
done
case $prefix in /*) ;; *) prefix=$PWD/$prefix ;; esac
venv=$prefix/lib/plaidwork
list=$venv/installed.txt
[ -f "$list" ] || { echo "There is no installation of Plaidwork in $prefix." >&2; exit 1; }
cd /

noted=$(mktemp)
trap 'rm -f "$noted"' EXIT
cp "$list" "$noted"
data=$(sed -n 's/^data //p' "$noted")
sed -n 's/^file //p' "$noted" | while IFS= read -r file; do rm -f "$file"; done
rm -rf "$venv"

# databases that were made for our entries alone go, others are made anew
mime=$data/mime applications=$data/applications
if [ -d "$mime/packages" ]; then
    if [ -n "$(ls -A "$mime/packages")" ]; then
        if command -v update-mime-database >/dev/null 2>&1; then update-mime-database "$mime" 2>/dev/null; fi
    else
        for name in XMLnamespaces aliases generic-icons globs globs2 icons magic mime.cache subclasses treemagic types \
            version application/x-plaidwork-session.xml; do
            rm -f "$mime/$name"
        done
        rmdir "$mime/application" 2>/dev/null || true
    fi
fi
if [ -d "$applications" ]; then
    if [ -z "$(find "$applications" -name '*.desktop' | head -n 1)" ]; then
        rm -f "$applications/mimeinfo.cache"
    elif command -v update-desktop-database >/dev/null 2>&1; then
        update-desktop-database -q "$applications"
    fi
fi
sed -n 's/^folder //p' "$noted" | while IFS= read -r folder; do rmdir "$folder" 2>/dev/null || true; done

if [ -n "$purge" ]; then
    rm -rf "${XDG_CONFIG_HOME:-$HOME/.config}/plaidwork" \
        "${XDG_CACHE_HOME:-$HOME/.cache}/plaidwork" "${XDG_DATA_HOME:-$HOME/.local/share}/plaidwork" \
        "${XDG_STATE_HOME:-$HOME/.local/state}/plaidwork"
fi
echo "Plaidwork was removed from $prefix."
