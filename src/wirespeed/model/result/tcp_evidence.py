# SPDX-License-Identifier: Apache-2.0
"""Define the CPU time that the programs of a TCP run did not get, by interval.

The types hold no rate and no count of octets. measure/tcp_gate.py reads them alone, so that no rate
decides which time counts.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ProgramIntervals:
    """Values of the server, the clients or the vSwitch, one per interval, over all processes."""

    name: str
    cpus: int
    """Number of CPUs it may use."""
    steal_ns: tuple[int, ...]
    """Steal time of these CPUs in ns, in steps of 10 ms."""
    waited_ns: tuple[int, ...]
    """Run-queue wait of its threads in ns, whoever ran instead."""


@dataclass(frozen=True, slots=True)
class TcpEvidence:
    """A run in intervals of about 0.1 s, each between two readings of the counters."""

    at_ns: tuple[int, ...]
    """Time of each reading, in ns since the first reading with traffic; one more than intervals."""
    begin_ns: int
    """Begin of the time that certainly counts in the first test."""
    end_ns: int
    """End of the time that certainly counts in the first test."""
    programs: tuple[ProgramIntervals, ...]
    competing_ns: tuple[int, ...]
    """CPU time in ns of foreign processes that may run on the bench's CPUs."""

    @property
    def lengths_ns(self) -> tuple[int, ...]:
        """Length of each interval in ns."""
        return tuple(
            end - begin for begin, end in zip(self.at_ns[:-1], self.at_ns[1:], strict=True)
        )

    def counts(self, interval: int) -> bool:
        """Return whether the interval lies wholly in the time that counts."""
        return self.begin_ns <= self.at_ns[interval] and self.at_ns[interval + 1] <= self.end_ns
