# SPDX-License-Identifier: Apache-2.0
"""Watch a host without a generator, by a sleeping wsdp that has no ports and no tasks."""

from __future__ import annotations

from wirespeed.bench.host.directories import Directories
from wirespeed.bench.host.host import Host
from wirespeed.bench.interface import HopCount, UnpolledPart
from wirespeed.bench.program.config import WsdpConfig
from wirespeed.bench.program.part import WsdpPart
from wirespeed.bench.program.wsdp import Wsdp
from wirespeed.model.plan.plan import ProcessMemory

_MEMORY = ProcessMemory(mbufs=1023, data_bytes=2176, memory_mib=64, huge_pages=False)


class Watcher(UnpolledPart, WsdpPart):
    """A component that no frame passes; its program answers the noise probes."""

    def __init__(self, host: Host, dirs: Directories, cpu: int) -> None:
        config = WsdpConfig(f"watch{dirs.tag}", cpu, (), _MEMORY, (), ())
        super().__init__(Wsdp("watcher", host, dirs, config), role="watcher")

    def begin(self) -> None:
        """Do nothing: it counts nothing."""

    def read(self) -> tuple[HopCount, ...]:
        return ()
