# SPDX-License-Identifier: Apache-2.0
"""Ask Open vSwitch by unixctl: what both collectors of it share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from wirespeed.kpi.interface import Missing, Name, Source, Values
from wirespeed.remote.interface import Runner
from wirespeed.sources import unixctl
from wirespeed.sources.errors import NoAnswer
from wirespeed.sources.ovs_sockets import Daemon, daemons
from wirespeed.sources.processes import epoch_of

# Longest wait for an answer: the rest of the collector's sources wait as long.
DEADLINE_S = 1.0

Ask = Callable[..., str]
Parse = Callable[[str, Ask], Mapping[Name, int]]


@dataclass(frozen=True, slots=True)
class OvsSource:
    """One daemon. `parse` asks it, and returns the series of the daemon of that name."""

    name: str
    runner: Runner
    daemon: Daemon
    parse: Parse

    def read(self) -> Values:
        try:
            epoch = epoch_of(self.runner, self.daemon.pid)
        except FileNotFoundError:
            raise NoAnswer(f"ovs-vswitchd (process {self.daemon.pid}) has ended") from None
        return Values(epoch, self.parse(self.daemon.name, self._ask))

    def _ask(self, command: str, *params: str) -> str:
        return unixctl.call(self.runner, self.daemon.path, command, *params, timeout_s=DEADLINE_S)

    def close(self) -> None: ...


def ovs_sources(collector: str, runner: Runner, parse: Parse) -> Sequence[Source] | Missing:
    """Return a source for each running daemon."""
    found = [
        OvsSource(f"{collector} {daemon.name}", runner, daemon, parse) for daemon in daemons(runner)
    ]
    return found or Missing("no ovs-vswitchd with a control socket runs")
