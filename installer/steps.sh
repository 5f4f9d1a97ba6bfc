# Steps that run.sh, linux/install.sh and frozen/*.sh share; sourced by them. They set: python, venv and bin (its folder of
# programs), and root, the checkout.
# shellcheck shell=sh disable=SC2154

# What PySide6's window libraries and its xcb and offscreen platforms are linked to, beyond the C++ runtime.
libraries="libegl1 libgl1 libglib2.0-0 libdbus-1-3 libfontconfig1 libxkbcommon0 libxkbcommon-x11-0 libx11-xcb1
libxcb-cursor0 libxcb-icccm4 libxcb-image0 libxcb-keysyms1 libxcb-randr0 libxcb-render-util0 libxcb-shape0
libxcb-shm0 libxcb-sync1 libxcb-xfixes0 libxcb-xkb1"

# entries COMMAND: what desktops are told of the program. Runs COMMAND with file, folder below share, and name, one after the other.
entries() {
    "$1" "$root/resources/icons/mark.svg" icons/hicolor/scalable/apps plaidwork.svg
    "$1" "$root/installer/linux/plaidwork-session.svg" icons/hicolor/scalable/mimetypes application-x-plaidwork-session.svg
    "$1" "$root/installer/linux/plaidwork.xml" mime/packages plaidwork.xml
    "$1" "$root/installer/linux/plaidwork.metainfo.xml" metainfo org.plaidwork.Plaidwork.metainfo.xml
    "$1" "$root/installer/linux/plaidwork.desktop" applications plaidwork.desktop
}

say() { printf '%s\n' "$*" >&2; }
fail() { say "$(basename "$0"): $*"; exit 1; }

as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi
}

can_install() {
    [ -z "${PLAIDWORK_NO_APT:-}" ] && command -v apt-get >/dev/null 2>&1 || return 1
    [ "$(id -u)" = 0 ] || { command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; }
}

# install_packages NAME...: with apt-get where that is allowed; else say the command and return 1
install_packages() {
    if can_install; then
        say "Installing system packages: $*"
        as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq update >/dev/null ||
            say "The package lists could not be refreshed; going on with those there are."
        if as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends "$@" \
            >/dev/null; then
            return 0
        fi
    fi
    say "These system packages are needed. Install them with:"
    say "  sudo apt-get install --no-install-recommends $(echo $*)"
    return 1
}

check_python() {
    command -v "$python" >/dev/null 2>&1 || install_packages python3 ||
        fail "Python 3.11 or newer is needed, and $python was not found."
    "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
        fail "Python 3.11 or newer is needed. Found $("$python" --version 2>&1). Set PYTHON to another one."
}

# Debian splits ensurepip off: try with it, then with its package, then with virtualenv if that is there.
make_environment() {
    [ -x "$bin/python" ] && "$bin/python" -m pip --version >/dev/null 2>&1 && return 0
    say "Creating $venv"
    rm -rf "$venv"
    "$python" -m venv "$venv" >/dev/null 2>&1 && return 0
    rm -rf "$venv"
    version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
    if install_packages "python$version-venv" && "$python" -m venv "$venv"; then
        return 0
    fi
    rm -rf "$venv"
    if "$python" -m virtualenv --version >/dev/null 2>&1; then
        "$python" -m virtualenv -q "$venv" && return 0
    fi
    # the pip outside can fill an environment that has none
    if "$python" -m pip --version >/dev/null 2>&1 && "$python" -m venv --without-pip "$venv"; then
        "$python" -m pip --python "$bin/python" install -q pip && return 0
    fi
    fail "A virtual environment could not be made. Install python$version-venv and try again."
}

# The libraries that Qt does not find, by asking the linker about what is installed.
missing_libraries() {
    qt=$("$bin/python" -c 'import importlib.util as u; print(u.find_spec("PySide6").submodule_search_locations[0])')
    for file in "$qt"/Qt/plugins/platforms/libqxcb.so "$qt"/Qt/plugins/platforms/libqoffscreen.so \
        "$qt"/QtWidgets.abi3.so "$qt"/QtSvg.abi3.so; do
        ldd "$file" 2>/dev/null | sed -n 's/^[[:space:]]*\([^ ]*\) => not found.*/\1/p'
    done | sort -u | tr '\n' ' '
}

check_libraries() {
    [ "$(uname -s)" = Linux ] || return 0
    missing=$(missing_libraries)
    [ -z "$missing" ] && return 0
    say "Qt misses $missing"
    # shellcheck disable=SC2086  # a list of names
    install_packages $libraries || true
    missing=$(missing_libraries)
    [ -z "$missing" ] && return 0
    say "Still missing: $missing"
    "$bin/python" -c 'from PySide6 import QtWidgets, QtSvg' ||
        fail "Qt cannot be loaded. Install the packages above and try again."
    say "The window may not open; what needs no screen works."
}
