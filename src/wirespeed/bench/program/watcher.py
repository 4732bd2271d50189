# SPDX-License-Identifier: Apache-2.0
"""Who watches a host on which no generator runs? A wsdp without ports and tasks, which sleeps."""

from __future__ import annotations

from collections.abc import Mapping

from wirespeed.bench.host.directories import Directories
from wirespeed.bench.host.host import Host
from wirespeed.bench.interface import HopCount, UnpolledPart
from wirespeed.bench.program.config import WsdpConfig
from wirespeed.bench.program.wsdp import Wsdp
from wirespeed.model.plan import ProcessMemory
from wirespeed.remote.interface import Process

_MEMORY = ProcessMemory(mbufs=1023, data_bytes=2176, memory_mib=64, huge_pages=False)


class Watcher(UnpolledPart):
    """A part of the bench that no frame passes; its program answers the noise probes."""

    name = "watcher"

    def __init__(self, host: Host, dirs: Directories, cpu: int) -> None:
        config = WsdpConfig(f"watch{dirs.tag}", cpu, (), _MEMORY, (), ())
        self.program = Wsdp(self.name, host, dirs, config)

    def up(self) -> None:
        self.program.start()

    def waits_for(self) -> str | None:
        return self.program.waits_for()

    def alive(self) -> str | None:
        return self.program.ended()

    @property
    def processes(self) -> tuple[Process, ...]:
        return self.program.processes

    def begin(self) -> None:
        """It counts nothing."""

    def read(self) -> tuple[HopCount, ...]:
        return ()

    def down(self) -> None:
        self.program.stop()

    def describe(self) -> Mapping[str, object]:
        return self.program.describe()
