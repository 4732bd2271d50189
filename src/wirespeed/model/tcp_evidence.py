# SPDX-License-Identifier: Apache-2.0
"""What was taken from the programs of a TCP run, interval by interval?

No rate and no count of octets is here: measure/tcp_gate.py reads this alone, so that no rate can
decide which time counts.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ProgramIntervals:
    """The server, the clients or the vSwitch, a value an interval; all processes of it together.

    cpus: how many it may use. steal_ns: time that the hypervisor took there, in steps of 10 ms.
    waited_ns: run-queue wait of its threads, whoever ran instead.
    """

    name: str
    cpus: int
    steal_ns: tuple[int, ...]
    waited_ns: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class TcpEvidence:
    """A run in intervals of about 0.1 s, as the bench looked.

    at_ns: the looks, one more than there are intervals, in ns since the first that saw traffic.
    begin_ns, end_ns: between these lie seconds of the first test that count, for certain.
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
