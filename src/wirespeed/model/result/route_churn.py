# SPDX-License-Identifier: Apache-2.0
"""Describe the changes of routes during a trial."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RouteChurn:
    """Routes that were withdrawn and announced while frames were offered.

    Afterwards the kernel had all routes again, and wsdp's tables agreed with it, where the router
    is wsdp's.
    """

    changes: int
    """Withdrawn and announced routes."""
    late_s: float
    """Longest delay of a change against its schedule, in s."""
    behind_s: float
    """Time from the end of the traffic and the last change until all agreed, in s; if they had
    before, until the bench looked for the first time."""
