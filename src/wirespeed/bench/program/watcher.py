# SPDX-License-Identifier: Apache-2.0
"""Who watches a host on which no generator runs? A wsdp without ports and tasks, which sleeps."""

from __future__ import annotations

from wirespeed.bench.host.directories import Directories
from wirespeed.bench.host.host import Host
from wirespeed.bench.interface import HopCount, UnpolledPart
from wirespeed.bench.program.config import WsdpConfig
from wirespeed.bench.program.part import WsdpPart
from wirespeed.bench.program.wsdp import Wsdp
from wirespeed.model.plan import ProcessMemory

_MEMORY = ProcessMemory(mbufs=1023, data_bytes=2176, memory_mib=64, huge_pages=False)


class Watcher(UnpolledPart, WsdpPart):
    """A part of the bench that no frame passes; its program answers the noise probes."""

    def __init__(self, host: Host, dirs: Directories, cpu: int) -> None:
        config = WsdpConfig(f"watch{dirs.tag}", cpu, (), _MEMORY, (), ())
        super().__init__(Wsdp("watcher", host, dirs, config), role="watcher")

    def begin(self) -> None:
        """It counts nothing."""

    def read(self) -> tuple[HopCount, ...]:
        return ()
