# SPDX-License-Identifier: Apache-2.0
"""List the reasons for which OpenStack may differ from the plan. Pure.

Each is explained in docs/explanation/openstack.md; any other difference fails the test.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from tests.cloud.comparison import COLUMNS, SAME_PF, Row

VF = "Nova takes the VF that libvirt listed last; VFs of one port are equal"


def unexplained(ways: Mapping[str, Sequence[Row]], free: str) -> Iterator[str]:
    """Return the differences without a reason.

    free: the way in which the scheduler chooses the hosts.
    """
    for way, rows in ways.items():
        moved = False
        for row in rows:
            moved |= not row.cells[COLUMNS.index("same host")]
            may_move = way == free and moved
            for each in row.differences:
                if not (may_move or reason(each)):
                    yield f"{way}: {row.guest}: {each}"
            for each in row.contradictions:
                yield f"{way}: {row.guest}: contradiction: {each}"


def reason(difference: str) -> str | None:
    """Return why a difference on the planned host is allowed; None if it is not."""
    return VF if difference.endswith(SAME_PF) else None
