# SPDX-License-Identifier: Apache-2.0
"""Run many random plans, two at a time; resume after an interruption.

A case that has a result in STATE is not run again; after a change of the templates remove STATE.

python -m tests.cloud [CASES] [SEED] [STATE]
"""

from __future__ import annotations

import sys
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import chain
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

# OpenStack waits for itself a third of the time, and takes 2 GiB.
_SIDE_BY_SIDE = 2


def main(count: int, seed: int, state: Path) -> int:
    print(f"{count} random cases from seed {seed}; results in {state}")
    with ProcessPoolExecutor(_SIDE_BY_SIDE) as pool:
        shares = pool.map(partial(_share, count, seed, state), range(_SIDE_BY_SIDE))
        faults = list(chain.from_iterable(shares))
    wanted = {case.name for case in _cases(count, seed)}
    results = [each for each in remembered(state).values() if each.case in wanted]
    for result in results:
        print(details(result))
        faults += [
            f"{result.case}: UNEXPLAINED: {each}" for each in (*result.unexplained, *result.left)
        ]
    print(table(results))
    print(f"{len(results)} of {len(wanted)} cases ran; {len(faults)} faults")
    print(*faults, sep="\n")
    return int(len(results) < len(wanted) or bool(faults))


def _cases(count: int, seed: int) -> list[cases.Case]:
    return [*cases.examples(), *cases.random_cases(seed, count)]


def _share(count: int, seed: int, state: Path, number: int) -> list[str]:
    """Run one share of the cases that have no result yet. Return what went wrong."""
    faults = []
    known = remembered(state)
    clouds = Clouds()
    for case in _cases(count, seed)[number::_SIDE_BY_SIDE]:
        if case.name in known:
            continue
        try:
            result = run(case, clouds, in_every_way)
        except (ApiError, CaseError, CloudError) as fault:
            faults.append(f"{case.name}: {fault}")
            print(faults[-1], flush=True)
            continue
        remember(state, result)
        print(f"{case.name}: {len(result.unexplained)} unexplained", flush=True)
    return [*faults, *clouds.close()]


if __name__ == "__main__":
    words = dict(enumerate(sys.argv[1:]))
    sys.exit(
        main(
            int(words.get(0, "100")),
            int(words.get(1, str(cases.SEED))),
            Path(words.get(2, "build/openstack-matrix.jsonl")),
        )
    )
