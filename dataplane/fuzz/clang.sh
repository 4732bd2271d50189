#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds a fuzzer. It is looked for when it is needed: what the first configuration found or did not
# find decides nothing.
command -v clang >/dev/null || {
	echo "clang: not installed; the fuzzers need it: apt-get install clang libclang-rt-dev" >&2
	exit 1
}
exec clang "$@"
