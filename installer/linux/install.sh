#!/bin/sh
# Install Plaidwork with its menu entry, icons and type of file, in an environment of its own.
#
#   sh installer/linux/install.sh [--user]            for you alone, in ~/.local
#   sh installer/linux/install.sh --prefix DIR        below DIR, such as /usr/local or /opt/plaidwork
#   sh installer/linux/install.sh --from FILE.whl     that wheel instead of this checkout; go with either of the above
#
# Run again, it replaces what it installed. uninstall.sh beside it takes everything out; a copy of it lies in
# DIR/lib/plaidwork. PYTHON names another interpreter (3.11 or newer), PLAIDWORK_NO_APT=1 installs no system package.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
usage() { sed -n '2,9s/^# \{0,1\}//p' "$here/install.sh" >&2; exit 2; }

prefix=${HOME:?}/.local
data=${XDG_DATA_HOME:-$prefix/share}
source=$root
while [ $# -gt 0 ]; do
    case $1 in
        --user) ;;
        --prefix) [ $# -gt 1 ] || usage; prefix=$2; data=$2/share; shift ;;
        --from) [ $# -gt 1 ] || usage; source=$2; shift ;;
        *) usage ;;
    esac
    shift
done
case $prefix in /*) ;; *) prefix=$PWD/$prefix; data=$prefix/share ;; esac
case $source in /*) ;; *) source=$PWD/$source ;; esac
cd /

python=${PYTHON:-python3}
venv=$prefix/lib/plaidwork
bin=$venv/bin
list=$venv/installed.txt
# shellcheck source=installer/steps.sh
. "$root/installer/steps.sh"

[ -e "$source" ] || fail "$source was not found."
if [ -e "$venv" ]; then
    [ -f "$list" ] || fail "$venv exists and was not made by this script. Remove it, or choose another --prefix."
    sh "$here/uninstall.sh" --prefix "$prefix" >&2
fi
if [ -e "$prefix/bin/plaidwork" ] || [ -L "$prefix/bin/plaidwork" ]; then
    fail "$prefix/bin/plaidwork exists and was not made by this script. Remove it, or choose another --prefix."
fi

made=$(mktemp)
trap 'rm -f "$made"' EXIT
# make_folder DIR: with its parents; notes those that are new, the innermost first
make_folder() {
    [ -d "$1" ] && return 0
    make_folder "$(dirname "$1")"
    mkdir "$1"
    { printf 'folder %s\n' "$1"; cat "$made"; } >"$made.new"
    mv "$made.new" "$made"
}
# put FILE FOLDER NAME: below $data
put() {
    make_folder "$data/$2"
    cp "$1" "$data/$2/$3"
    chmod 644 "$data/$2/$3"
    printf 'file %s\n' "$data/$2/$3" >>"$list"
}

check_python
make_folder "$prefix/lib"
make_environment
: >"$list" # from here on it can be uninstalled, also when the rest fails
cp "$here/uninstall.sh" "$venv/uninstall.sh"
printf 'data %s\n' "$data" >>"$list"
say "Installing Plaidwork and what it needs into $venv (a few minutes)"
"$bin/python" -m pip install -q --disable-pip-version-check --no-warn-script-location "$source[excel,parquet]" || {
    cat "$made" >>"$list"
    sh "$venv/uninstall.sh" --prefix "$prefix" >&2
    fail "What Plaidwork needs could not be installed. Nothing was left behind."
}
check_libraries

make_folder "$prefix/bin"
ln -s "$bin/plaidwork" "$prefix/bin/plaidwork"
printf 'file %s\n' "$prefix/bin/plaidwork" >>"$list"
entries put
# the program may lie where no menu looks for it; in a menu entry a quoted path may have blanks
escaped=$(printf '%s' "$prefix/bin/plaidwork" | sed 's/[\\"`$]/\\\\&/g; s/%/%%/g; s/[\\&|]/\\&/g')
tried=$(printf '%s' "$prefix/bin/plaidwork" | sed 's/\\/\\\\/g; s/[\\&|]/\\&/g')
sed -i "s|^Exec=plaidwork|Exec=\"$escaped\"|; s|^TryExec=plaidwork|TryExec=$tried|" "$data/applications/plaidwork.desktop"
cat "$made" >>"$list"

if command -v update-mime-database >/dev/null 2>&1; then update-mime-database "$data/mime" 2>/dev/null; fi
if command -v update-desktop-database >/dev/null 2>&1; then update-desktop-database -q "$data/applications"; fi
touch "$data/icons/hicolor" # desktops look at its time

say "Plaidwork is installed. Start it from the menu, by a double click on a session, or as $prefix/bin/plaidwork"
case :$PATH: in *:"$prefix/bin":*) ;; *) say "$prefix/bin is not on your PATH." ;; esac
say "To uninstall: sh $venv/uninstall.sh"
