#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Make host.json, plan.json and rendered/ of every example again, after the planner has changed.
set -euo pipefail
cd "$(dirname "$0")/.."
wirespeed=${WIRESPEED:-.venv/bin/wirespeed}

example() {
	local folder=examples/$1 host=tests/hosts/$2
	"$wirespeed" inspect --recorded "$host" --json >"$folder/host.json"
	"$wirespeed" plan "$folder/workload.toml" --host "$folder/host.json" \
		-o "$folder/plan.json" >/dev/null
	rm -rf "$folder/rendered"
	"$wirespeed" plan render "$folder/plan.json" -o "$folder/rendered"
	rm "$folder/rendered/.wirespeed-rendered.json"
}

example s0-speedtest s0-compute
example s1-bng s1-dppd
example s2-chains s2-r730
example s3-jumbo s3-r740xd
