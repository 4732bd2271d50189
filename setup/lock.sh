#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Write setup/locks/*.txt, requirements with the hashes of all wheels of each version, for Linux and
# the Pythons of [tool.uv] in pyproject.toml: setup/lock.sh UV [OPTIONS]. OPTIONS go to
# `uv pip compile`; without --upgrade or --upgrade-package NAME the versions stay as they are.
#   build  what builds the package            run   what the program needs
#   dev    all of both, and for development   nova  the tests next to Nova's library
#   lock   uv and pip-audit themselves
set -eu

uv=$1
shift
cd "$(dirname "$0")/.."

# Write one lock: compile NAME WORDS... Every package is for the same platform: no line says so.
compile() {
	lock=setup/locks/$1.txt
	shift
	"$uv" pip compile --quiet --universal --python-version 3.11 --fork-strategy fewest \
		--only-binary :all: --generate-hashes --no-annotate --no-header --no-emit-index-url \
		--output-file "$lock" "$@"
	sed -i -e "s/ and implementation_name == 'cpython'//" -e "s/ and sys_platform == 'linux'//" \
		-e "s/ and platform_python_implementation != 'PyPy'//" \
		-e "s/ \(and\|;\) python_full_version < '3.15'//" "$lock"
}

compile dev "$@" --extra dev --extra postgresql --group build pyproject.toml
compile run --constraint setup/locks/dev.txt pyproject.toml
compile build --constraint setup/locks/dev.txt --group build
compile nova "$@" --extra nova --group build pyproject.toml
compile lock "$@" --group lock
