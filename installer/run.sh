#!/bin/sh
# Set Plaidwork up in this checkout and start it, or run its tests. Debian 12 and the like; needs Python 3.11, pip and git.
#
#   sh installer/run.sh start [args]   open the window on a bundled example; without a screen, fit it and write a picture
#   sh installer/run.sh test [args]    set up and run the tests (args go to pytest), as many files at once as there are
#                                      processors; -n 0 runs one after the other
#   sh installer/run.sh setup          set up only, and compile the models' kernels
#
# PYTHON names another interpreter, PLAIDWORK_VENV another folder for the environment, PLAIDWORK_NO_APT=1 installs no
# system package.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"
python=${PYTHON:-python3}
venv=${PLAIDWORK_VENV:-$root/.venv}
bin=$venv/bin
example=three-blocks

# shellcheck source=installer/steps.sh
. installer/steps.sh

# Anew only when what is installed would change: pyproject.toml, the build hook, the interpreter, or the place.
install_plaidwork() {
    stamp=$({ cat pyproject.toml installer/link_tree.py; "$bin/python" --version; pwd; } | sha256sum | cut -d' ' -f1)
    if [ "$(cat "$venv/plaidwork.stamp" 2>/dev/null)" = "$stamp" ] && [ -e .dev/plaidwork/core ]; then
        return 0
    fi
    say "Installing Plaidwork and what it needs into $venv (a few minutes the first time)"
    "$bin/python" -m pip install -q --disable-pip-version-check --no-warn-script-location -e '.[test]'
    echo "$stamp" >"$venv/plaidwork.stamp"
}

# Once per environment; kernels that are there already are only loaded.
compile_kernels() {
    [ "$(cat "$venv/kernels.stamp" 2>/dev/null)" = "$(cat "$venv/plaidwork.stamp")" ] && return 0
    say "Compiling the models' kernels (two minutes the first time)"
    "$bin/plaidwork" prepare >&2
    cp "$venv/plaidwork.stamp" "$venv/kernels.stamp"
}

setup() {
    check_python
    make_environment
    install_plaidwork
    check_libraries
}

start() {
    if [ -n "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ] || [ "$(uname -s)" = Darwin ]; then
        if [ $# -gt 0 ]; then exec "$bin/plaidwork" "$@"; fi
        exec "$bin/plaidwork" --example "$example"
    fi
    session=$root/artifacts/$example.plaidwork picture=$root/artifacts/$example.png
    mkdir -p "$root/artifacts"
    say "There is no screen: fitting the example “$example” to its end instead of opening the window."
    QT_QPA_PLATFORM=offscreen "$bin/plaidwork" example "$example" --out "$session" --picture "$picture" --force "$@"
}

# Without -n from the user the tests of a file stay together, in their order, in one of several processes.
run_tests() {
    export QT_QPA_PLATFORM=offscreen
    unset PYTHONDONTWRITEBYTECODE # else every process that the tests start compiles all sources anew
    case " $* " in
        *" -p no:xdist "* | *" -pno:xdist "*) exec "$bin/python" -m pytest "$@" ;;
        *) exec "$bin/python" -m pytest -n auto --dist loadfile --no-loadscope-reorder "$@" ;;
    esac
}

command=${1:-}
[ $# -gt 0 ] && shift
case $command in
    start) setup; start "$@" ;;
    test) setup; compile_kernels; run_tests "$@" ;;
    setup) setup; compile_kernels ;;
    *) sed -n '2,10s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac
