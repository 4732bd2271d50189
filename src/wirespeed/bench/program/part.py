# SPDX-License-Identifier: Apache-2.0
"""Share what all components that are a wsdp process have in common."""

from __future__ import annotations

from collections.abc import Mapping

from wirespeed.bench.interface import Busy, GapLog, Poller
from wirespeed.bench.program.wsdp import Wsdp
from wirespeed.remote.interface import Process


class WsdpPart:
    """A Part except for its counts. role: role of its polling threads."""

    unwatched: str | None = None

    def __init__(self, program: Wsdp, role: str) -> None:
        self.program = program
        self._role = role

    @property
    def name(self) -> str:
        return self.program.name

    def up(self) -> None:
        self.program.start()

    def waits_for(self) -> str | None:
        return self.program.waits_for()

    def alive(self) -> str | None:
        return self.program.ended()

    @property
    def processes(self) -> tuple[Process, ...]:
        return self.program.processes

    @property
    def programs(self) -> tuple[int, ...]:
        return tuple(process.pid for process in self.processes)

    def begin(self) -> None:
        self.program.ask("reset")

    def pollers(self) -> tuple[Poller, ...]:
        return self.program.pollers(self._role)

    def gap_logs(self) -> tuple[GapLog, ...]:
        return self.program.gap_logs(self._role)

    def busy(self) -> Mapping[int, Busy]:
        return self.program.busy()

    def settings(self) -> Mapping[str, str]:
        """Return the settings of its ports; see noise.settings.Configured."""
        return self.program.port_settings()

    def down(self) -> None:
        self.program.stop()

    def describe(self) -> Mapping[str, object]:
        return self.program.describe()
