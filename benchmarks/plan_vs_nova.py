# SPDX-License-Identifier: Apache-2.0
"""Compare speed and packing of the planner with the real Nova library.

It prints three results, each from this run:
- fit decisions per CPU second of `fit` and of Nova's numa_fit_instance_to_host, on the same random
  hosts and guests, taken in turns; no pair of host and guest is decided twice;
- guests placed on 200 random mixes by `place_all`, and by Nova's filters and default weighers asked
  for one guest after another; each of our plans is then carried out in Nova, which must accept it;
- the time to plan 5,000 hosts with 10,000 guests, files aside: of two kinds, and all different.

Runs in Nova's own environment (`make test-nova` makes it).
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
NOVA_PYTHON = ROOT / ".venv-nova" / "bin" / "python"


def main() -> int:
    if not NOVA_PYTHON.exists():
        print("Nova is not installed: run `make test-nova` first.")
        return 1
    command = [str(NOVA_PYTHON), "-m", "benchmarks.shared.beside_nova"]
    return subprocess.run(command, cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
