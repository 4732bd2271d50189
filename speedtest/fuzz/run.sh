#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The long form of fuzzing: libFuzzer over each target, one after the other, with coverage.
# Usage: fuzz/run.sh SECONDS [TARGET...]     seconds for each target; default: all targets
#
# It needs no nightly toolchain: coverage comes from LLVM's own pass. `cargo fuzz run TARGET
# --features libfuzzer` works too where a nightly is installed. New inputs stay in target/fuzz/found;
# an input that breaks an invariant ends the run and is in target/fuzz/faults.
set -eu
cd "$(dirname "$0")/.."
seconds=${1:?"usage: fuzz/run.sh SECONDS [TARGET...]"}
shift
[ $# -gt 0 ] || { cd fuzz/corpus && set -- * && cd ../..; }
pass="-C passes=sancov-module -C llvm-args=-sanitizer-coverage-level=4"
pass="$pass -C llvm-args=-sanitizer-coverage-inline-8bit-counters"
pass="$pass -C llvm-args=-sanitizer-coverage-pc-table"
pass="$pass -C llvm-args=-sanitizer-coverage-trace-compares"
checks="-C debug-assertions -C overflow-checks"
export RUSTFLAGS="--cfg fuzzing -C codegen-units=1 $checks $pass"
host=$(rustc -vV | sed -n 's/^host: //p')
# With a target named, build scripts and macros are built without the pass.
cargo build --quiet --locked --release -p speedtest-fuzz --features libfuzzer --bins \
	--target "$host" --target-dir target/fuzz
mkdir -p target/fuzz/faults
for name; do
	mkdir -p "target/fuzz/found/$name"
	"target/fuzz/$host/release/$name" -max_total_time="$seconds" -timeout=60 -rss_limit_mb=512 \
		-max_len=4096 -print_final_stats=1 -verbosity=0 -artifact_prefix="target/fuzz/faults/$name-" \
		"target/fuzz/found/$name" "fuzz/corpus/$name"
done
