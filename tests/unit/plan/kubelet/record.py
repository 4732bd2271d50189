# SPDX-License-Identifier: Apache-2.0
"""Record answers of the kubelet's own code, which `make test` replays.

python -m tests.unit.plan.kubelet.record build/kubelet-oracle
"""

from __future__ import annotations

import json
import sys
from hashlib import sha256
from pathlib import Path
from random import Random

from tests.unit.plan.kubelet.case import Case, line
from tests.unit.plan.kubelet.oracle import ask
from tests.unit.plan.kubelet.random_cases import random_case

RECORDED = Path(__file__).parent / "answers.json"
CASES = 400


def recorded_case(seed: int) -> Case:
    return random_case(Random(seed))


def digest(case: Case) -> str:
    """Return a text by which a changed generator of cases is noticed."""
    return sha256(line(case).encode()).hexdigest()[:12]


def main(oracle: Path) -> None:
    """Write the answers to the first seeds."""
    cases = [recorded_case(seed) for seed in range(CASES)]
    answers = ask(oracle, cases)
    lines = [
        json.dumps({"case": digest(case), "answer": answer}, separators=(",", ":"))
        for case, answer in zip(cases, answers, strict=True)
    ]
    RECORDED.write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
