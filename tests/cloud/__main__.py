# SPDX-License-Identifier: Apache-2.0
"""Run many random plans, one after another; resume after an interruption.

python -m tests.cloud [CASES] [SEED] [STATE]
"""

from __future__ import annotations

import sys
from pathlib import Path

from tests.cloud import cases
from tests.cloud.case_run import (
    CaseError,
    details,
    in_every_way,
    remember,
    remembered,
    run,
    table,
)
from tests.cloud.clouds import Clouds
from tests.cloud.processes import CloudError
from tests.cloud.rest import ApiError


def main(count: int, seed: int, state: Path) -> int:
    print(f"{count} random cases from seed {seed}; results in {state}")
    wrong = 0
    clouds = Clouds()
    for case in [*cases.examples(), *cases.random_cases(seed, count)]:
        known = remembered(state).get(case.name)
        try:
            result = known or run(case, clouds, in_every_way)
        except (ApiError, CaseError, CloudError) as fault:
            print(f"{case.name}: {fault}")
            wrong += 1
            continue
        if known is None:
            remember(state, result)
        print(details(result))
        for each in (*result.unexplained, *result.left):
            print(f"{case.name}: UNEXPLAINED: {each}")
            wrong += 1
    left = clouds.close()
    print(table(list(remembered(state).values())))
    print(*left)
    return int(wrong > 0 or bool(left))


if __name__ == "__main__":
    words = dict(enumerate(sys.argv[1:]))
    sys.exit(
        main(
            int(words.get(0, "100")),
            int(words.get(1, str(cases.SEED))),
            Path(words.get(2, "build/openstack-matrix.jsonl")),
        )
    )
