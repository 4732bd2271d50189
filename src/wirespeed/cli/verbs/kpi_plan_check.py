# SPDX-License-Identifier: Apache-2.0
"""Count for Prometheus how many settings of this host differ from its plan."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator

from prometheus_client.core import Metric as Family

from wirespeed.apply import session
from wirespeed.cli.console import print_line
from wirespeed.model.errors import WirespeedError
from wirespeed.model.plan.plan import Plan
from wirespeed.remote.interface import LOCALHOST
from wirespeed.remote.reach import reach

_EVERY_S = 60.0


class PlanCheck:
    """Verifies the host each minute in a thread, as `wirespeed verify` does; a scrape waits not."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._differences: int | None = None
        self._failed = ""
        threading.Thread(target=self._work, daemon=True).start()

    def describe(self) -> Iterable[Family]:
        """Return none, as Exposition does."""
        return ()

    def collect(self) -> Iterator[Family]:
        """Yield the number; nothing before the first check, and after one that failed."""
        if self._differences is not None:
            found = Family("wirespeed_plan_differences", "Settings that differ from the plan.",
                           "gauge")  # fmt: skip
            found.add_sample(found.name, {}, self._differences)
            yield found

    def _work(self) -> None:
        while True:
            try:
                _, rows = session.verify(reach, LOCALHOST, self._plan)
                self._differences = sum(row.failed for row in rows)
            except WirespeedError as fault:
                self._differences = None
                if fault.what != self._failed:
                    print_line(f"plan not compared: {fault.what}", stderr=True)
                self._failed = fault.what
            threading.Event().wait(_EVERY_S)
