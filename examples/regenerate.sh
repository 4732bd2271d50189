#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Make host.json, plan.json and rendered/ of every example again, after the planner has changed.
set -euo pipefail
cd "$(dirname "$0")/.."
wirespeed=${WIRESPEED:-.venv/bin/wirespeed}

example() {
	"$wirespeed" inspect --recorded "tests/hosts/$2" --json >"examples/$1/host.json"
	planned "$1" "$1"
}

# Plan the workload of an example on the host of an example.
planned() {
	local folder=examples/$1
	"$wirespeed" plan "$folder/workload.toml" --host "examples/$2/host.json" \
		-o "$folder/plan.json" >/dev/null
	rm -rf "$folder/rendered"
	"$wirespeed" plan render "$folder/plan.json" -o "$folder/rendered"
	rm "$folder/rendered/.wirespeed-rendered.json"
}

example s0-speedtest s0-compute
example s1-bng s1-dppd
example s2-chains s2-r730
example s3-jumbo s3-r740xd
example s4-onp-pods s4-dl380
planned s1-bng-pods s1-bng
planned s2-chains-pods s2-chains
planned s3-jumbo-pods s3-jumbo
