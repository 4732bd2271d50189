#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Write one archive with the wheels of wirespeed and all it needs, for hosts without internet:
# setup/fleet-bundle.sh PYTHON ARCHIVE [WHEELS]. The role wirespeed.nfv.install installs it, and so
# does the install.sh in it. PYTHON is of the hosts' version and has setup/locks/build.txt; the wheels
# are for it and this machine's platform. WHEELS is a folder of setup/wheels.sh; without it the
# archive holds no wsdp.
set -eu

python=$1
archive=$2
root=$(cd "$(dirname "$0")/.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp "$root/setup/locks/run.txt" "$folder/lock.txt"
"$python" -m pip download --quiet --disable-pip-version-check --require-hashes \
	--only-binary :all: --dest "$folder" --requirement "$folder/lock.txt"
if [ $# -gt 2 ]; then
	cp "$3"/wirespeed*.whl "$folder"
else
	"$python" -m pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation \
		--wheel-dir "$folder" "$root"
fi
install -m 755 "$root/setup/bundle-install.sh" "$folder/install.sh"
"$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])' >"$folder/python-version"
"$python" "$root/setup/bill_of_materials.py" "$root" >"$folder/wirespeed.cdx.json"
sums=$(cd "$folder" && sha256sum -- *)
echo "$sums" >"$folder/SHA256SUMS"
mkdir -p "$(dirname "$archive")"
tar -C "$folder" -czf "$archive" .
(cd "$(dirname "$archive")" && sha256sum "$(basename "$archive")") >"$archive.sha256"
echo "$archive"
