# SPDX-License-Identifier: Apache-2.0
"""Run every benchmark of this folder, or the named ones, one after the other.

Each prints lines of `name value unit ratio-to-what`; nothing is compared with a result of another
run or machine. Exits 1 when a benchmark could not run.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
SHARED = {
    "attack_bytes",
    "attack_round",
    "attack_server",
    "attacker",
    "attacks",
    "beside_nova",
    "ci_repeats",  # hours; run by name: python -m benchmarks.ci_repeats
    "cpu_counter",
    "cpu_quota",
    "fault_cases",
    "fault_causes",
    "fault_on_switch",
    "fault_on_threads",
    "fault_program",
    "fault_report",
    "disturbances",
    "faulty_client",
    "figures",
    "fleet_hosts",
    "mixes",
    "point",
    "scaled_workloads",
}


def names() -> list[str]:
    return sorted(path.stem for path in HERE.glob("[a-z]*.py") if path.stem not in SHARED)


def main(wanted: list[str]) -> int:
    unknown = sorted(set(wanted) - set(names()))
    if unknown:
        print(f"no benchmark {', '.join(unknown)}; there are: {', '.join(names())}")
        return 2
    failed = []
    for name in wanted or names():
        print(f"\n# {name}", flush=True)
        if subprocess.run([sys.executable, "-m", f"benchmarks.{name}"], check=False).returncode:
            failed.append(name)
    if failed:
        print(f"\nfailed: {', '.join(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
