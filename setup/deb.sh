#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Build the Debian packages into a folder: setup/deb.sh PYTHON FOLDER. FOLDER/wheels holds the wheel of
# wirespeed; build/dataplane-guest/wsdp and the release of speedtest/ are built. PYTHON is this Debian's
# own version, with setup/locks/run.txt and build.txt. debian/rules needs no network.
set -eu

python=$1
packages=$(cd "$2" && pwd)
cd "$(dirname "$0")/.."
tree=$packages/source
inputs=$tree/debian/inputs

version=$(dpkg-parsechangelog -l debian/changelog -S Version)
wanted=$("$python" -c 'import tomllib
print(tomllib.load(open("pyproject.toml", "rb"))["project"]["version"])')
[ "$version" = "$wanted" ] || {
	echo "setup/deb.sh: debian/changelog has version $version, pyproject.toml $wanted" >&2
	exit 1
}
own=$(/usr/bin/python3 -c 'import sys; print(sys.version_info[:2])')
[ "$own" = "$("$python" -c 'import sys; print(sys.version_info[:2])')" ] || {
	echo "setup/deb.sh: $python is not of this Debian's Python; run make with PYTHON=/usr/bin/python3" >&2
	exit 1
}

rm -rf "$tree" "$packages/libraries" "$packages"/*.deb "$packages"/*.changes "$packages"/*.buildinfo
mkdir -p "$inputs/bin" "$packages/libraries"
cp -R --parents debian speedtest/dist "$tree"
"$python" -m pip download --quiet --disable-pip-version-check --require-hashes \
	--only-binary :all: --dest "$packages/libraries" --requirement setup/locks/run.txt
"$python" setup/debian_python.py . "$packages/libraries" "$inputs"
cp "$packages"/wheels/wirespeed-*.whl "$inputs/wheels"
"$python" -m wirespeed.cli.reference.packaged "$inputs/packaged"
"$python" setup/bill_of_materials.py . >"$inputs/doc/wirespeed.cdx.json"
(cd speedtest && cargo fetch --quiet --locked --target x86_64-unknown-linux-gnu)
"$python" setup/crate_licences.py speedtest >"$inputs/licences.txt"
cp -R README.md docs/* examples "$inputs/doc"
cp -R dataplane/layouts "$inputs/doc/examples"
# Dated as the package is, so that the same source gives the same site.
SOURCE_DATE_EPOCH=$(dpkg-parsechangelog -l debian/changelog -S Timestamp) \
	"$python" -m mkdocs build --quiet --strict --site-dir "$inputs/doc/html"
cp build/dataplane-guest/wsdp speedtest/target/release/wirespeed-speedtest "$inputs/bin"

# Drivers are plugins of DPDK: no program is linked to them.
abi=$(ldd build/dataplane-guest/wsdp | sed -n 's/.*librte_eal\.so\.\([0-9]*\).*/\1/p')
drivers=""
for name in bus-pci bus-vdev mempool-ring net-af-packet net-af-xdp net-memif net-pcap net-ring \
	net-vhost net-virtio; do
	drivers="$drivers${drivers:+, }librte-$name$abi"
done
echo "dpdk:Drivers=$drivers" >>"$inputs/substvars"

log=$packages/dpkg-buildpackage.log
(cd "$tree" && dpkg-buildpackage --build=binary --no-sign) >"$log" 2>&1 || {
	tail -n 30 "$log" >&2
	echo "setup/deb.sh: dpkg-buildpackage failed; see $log" >&2
	exit 1
}
rm -rf "$tree"
ls -l "$packages"/*.deb
