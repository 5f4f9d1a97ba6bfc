#!/bin/sh
# A disk image of the frozen program for macOS. NOT TESTED: written by the documentation, never run.
#
#   sh installer/macos/build.sh                       signed ad hoc: runs on this computer
#   IDENTITY="Developer ID Application: NAME (TEAM)" PROFILE=notary sh installer/macos/build.sh
#
# IDENTITY is a certificate of the keychain; PROFILE was stored by `xcrun notarytool store-credentials`. Opening a session by
# a double click is not set up: macOS hands files to a running program by an event that the program does not take yet.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
out=$root/dist
work=$out/work
app=$work/Plaidwork.app
mkdir -p "$work"

"${PYTHON:-python3}" -m venv --clear "$work/environment"
"$work/environment/bin/python" -m pip install -q "$root[bundle]"
(cd "$work" && environment/bin/python -m PyInstaller --noconfirm --distpath "$work/dist" --workpath "$work/build" \
    "$root/installer/frozen/plaidwork.spec")
"$work/environment/bin/python" "$root/installer/contents.py" --licences "$work/dist/plaidwork/LICENCES.txt" \
    --sbom "$work/dist/plaidwork/sbom.cdx.json"
"$work/dist/plaidwork/plaidwork" --smoke "$work/smoke"
version=$("$work/dist/plaidwork/plaidwork" --version | cut -d' ' -f2)

rm -rf "$app"
mkdir -p "$app/Contents/MacOS"
cp -R "$work/dist/plaidwork/." "$app/Contents/MacOS/"
sed "s/@VERSION@/$version/" "$here/Info.plist" >"$app/Contents/Info.plist"

# the kernels are compiled on the user's computer: without the entitlement a hardened program may not run what it wrote
identity=${IDENTITY:--}
find "$app" -type f \( -name '*.so' -o -name '*.dylib' \) -exec \
    codesign --force --options runtime -s "$identity" {} +
codesign --force --options runtime --entitlements "$here/entitlements.plist" -s "$identity" "$app"

image=$out/plaidwork-$version-macos-$(uname -m).dmg
hdiutil create -volname Plaidwork -srcfolder "$app" -ov -format UDZO "$image"
if [ -n "${PROFILE:-}" ]; then
    xcrun notarytool submit "$image" --keychain-profile "$PROFILE" --wait
    xcrun stapler staple "$image"
fi
