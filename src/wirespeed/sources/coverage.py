# SPDX-License-Identifier: Apache-2.0
"""Parse `coverage/show` of Open vSwitch (lib/coverage.c)."""

from __future__ import annotations

import re
from collections.abc import Mapping

_TOTAL = re.compile(r"^(\w+)\s.*total: (\d+)", re.MULTILINE)


def totals(shown: str) -> Mapping[str, int]:
    """Return each counter since the program started. One that was never raised is absent.

    Threads report about once a second.
    """
    return {name: int(count) for name, count in _TOTAL.findall(shown)}
