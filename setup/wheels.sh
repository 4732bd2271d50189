#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Build the wheels `wirespeed` and `wirespeed-native`: setup/wheels.sh PYTHON FOLDER WSDP...
# PYTHON has setup/locks/build.txt. `wirespeed-native` holds each WSDP, a build of `make
# dataplane-guest` (any x86-64-v2), one for each DPDK that it is to run with.
set -eu

python=$1
mkdir -p "$2"
folder=$(cd "$2" && pwd)
shift 2
cd "$(dirname "$0")/.."
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# The same sources make the same wheel, to the byte.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || echo 1)}
export SOURCE_DATE_EPOCH

# Print the release of DPDK whose libraries a program is linked to.
dpdk_release() {
	case "$(readelf --dynamic "$1" | sed -n 's/.*NEEDED.*librte_eal\.so\.\([0-9]*\).*/\1/p')" in
	23) echo 22.11 ;;
	24) echo 23.11 ;;
	25) echo 24.11 ;;
	26) echo 25.11 ;;
	*)
		echo "setup/wheels.sh: $1: linked to an unknown DPDK; run make dataplane-guest" >&2
		exit 1
		;;
	esac
}

wheel() {
	"$python" -m pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation \
		--wheel-dir "$folder" "$1"
}

cp -R dataplane/wheel "$scratch/native"
mkdir "$scratch/native/builds"
for build in "$@"; do
	[ -e "$build" ] || {
		echo "setup/wheels.sh: $build is not built; run make wheels" >&2
		exit 1
	}
	release=$(dpdk_release "$build")
	install -D -m 755 -s "$build" "$scratch/native/builds/dpdk-$release/wsdp"
done
rm -f "$folder"/wirespeed-*.whl "$folder"/wirespeed_native-*.whl
wheel .
wheel "$scratch/native"
ls "$folder"/wirespeed*.whl
