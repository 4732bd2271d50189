#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Write one archive with the wheels of wirespeed and all it needs, for hosts without internet:
# setup/fleet-bundle.sh PYTHON ARCHIVE. The role wirespeed.nfv.install installs it. PYTHON is of the
# hosts' version and has setup/locks/build.txt; the wheels are for it and this machine's platform.
set -eu

python=$1
archive=$2
root=$(cd "$(dirname "$0")/.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp "$root/setup/locks/run.txt" "$folder/lock.txt"
"$python" -m pip download --quiet --disable-pip-version-check --require-hashes \
	--only-binary :all: --dest "$folder" --requirement "$folder/lock.txt"
"$python" -m pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation \
	--wheel-dir "$folder" "$root"
(cd "$folder" && sha256sum lock.txt -- *.whl >SHA256SUMS)
mkdir -p "$(dirname "$archive")"
tar -C "$folder" -czf "$archive" .
sha256sum "$archive" >"$archive.sha256"
echo "$archive"
