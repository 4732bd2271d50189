#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Install wirespeed from this folder, without a network: ./install.sh [PREFIX], /opt/wirespeed without it.
# The environment variable PYTHON names the interpreter, python3 without it. An earlier version stays
# in PREFIX until this one is whole; PREFIX/bin/wirespeed is then the new one.
set -eu

prefix=${1:-/opt/wirespeed}
python=${PYTHON:-python3}
# Paths as typed are of the folder where they were typed.
case $prefix in /*) ;; *) prefix=$PWD/$prefix ;; esac
case $python in /*) ;; */*) python=$PWD/$python ;; esac
cd "$(dirname "$0")"

fail() {
	echo "install.sh: $1" >&2
	exit 2
}

sha256sum --check --strict --quiet SHA256SUMS >&2 ||
	fail "a file differs from SHA256SUMS; unpack the bundle again"
wanted=$(cat python-version)
found=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])') ||
	fail "$python: cannot be started; set PYTHON to a Python $wanted"
[ "$found" = "$wanted" ] ||
	fail "$python: Python $found, the bundle is for $wanted; set PYTHON, or make the bundle with it"
"$python" -c 'import ensurepip' 2>/dev/null ||
	fail "$python: module venv is missing; install python3-venv"

number=$(sha256sum SHA256SUMS | cut -c 1-12)
own=$prefix/$number
if [ ! -e "$own/whole" ]; then
	"$python" -m venv --clear "$own"
	pip() {
		"$own/bin/pip" install --quiet --disable-pip-version-check --no-index --find-links . "$@"
	}
	pip --require-hashes --requirement lock.txt
	pip --no-deps wirespeed*.whl
	touch "$own/whole"
fi
mkdir -p "$prefix/bin"
ln -sfn "../$number/bin/wirespeed" "$prefix/bin/wirespeed"
"$prefix/bin/wirespeed" --version
echo "Installed as $prefix/bin/wirespeed; what this host lacks: $prefix/bin/wirespeed doctor"
