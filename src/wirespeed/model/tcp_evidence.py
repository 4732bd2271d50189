# SPDX-License-Identifier: Apache-2.0
"""How much CPU time did the programs of a TCP run not get, interval by interval?

There is no rate and no count of octets here: measure/tcp_gate.py reads this alone, so that no rate
can decide which time counts.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ProgramIntervals:
    """The server, the clients or the vSwitch: one value for each interval, over all its processes.

    cpus: how many it may use. steal_ns: steal time of these, in steps of 10 ms. waited_ns:
    run-queue wait of its threads, whatever ran instead.
    """

    name: str
    cpus: int
    steal_ns: tuple[int, ...]
    waited_ns: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class TcpEvidence:
    """A run in intervals of about 0.1 s, between two readings of the counters each.

    at_ns: when counters were read, one more than there are intervals, in ns since the first reading
    with traffic. begin_ns, end_ns: the time that certainly counts in the first test.
    competing_ns: CPU time of processes that are not the bench's and may run on its CPUs.
    """

    at_ns: tuple[int, ...]
    begin_ns: int
    end_ns: int
    programs: tuple[ProgramIntervals, ...]
    competing_ns: tuple[int, ...]

    @property
    def lengths_ns(self) -> tuple[int, ...]:
        """Of each interval."""
        return tuple(
            end - begin for begin, end in zip(self.at_ns[:-1], self.at_ns[1:], strict=True)
        )

    def counts(self, interval: int) -> bool:
        """Whether the interval lies wholly in the time that counts."""
        return self.begin_ns <= self.at_ns[interval] and self.at_ns[interval + 1] <= self.end_ns
