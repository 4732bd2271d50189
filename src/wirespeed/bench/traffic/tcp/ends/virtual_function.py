# SPDX-License-Identifier: Apache-2.0
"""Use a network namespace with a NIC's virtual function (VF) as a host of a TCP test."""

from __future__ import annotations

from collections.abc import Sequence

from wirespeed.bench.host.directories import Directories
from wirespeed.bench.host.host import Host
from wirespeed.bench.host.process import await_true
from wirespeed.bench.topology.tcp import Port, TcpCable
from wirespeed.bench.traffic.tcp.ends.namespace import NamespaceEnd
from wirespeed.bench.traffic.tcp.ends.nic_port import Where, set_up_nic
from wirespeed.model.input.bounded import load_json
from wirespeed.model.study.tcp import Tcp

# Time from bringing a VF up to its link, if its physical function has one.
_LINK_S = 20.0


class VfEnd(NamespaceEnd):
    """An End. interface: the VF as an interface of the host, with its address."""

    def __init__(
        self, name: str, tcp: Tcp, host: Host, dirs: Directories, cpus: Sequence[int],
        *, interface: str,
    ) -> None:  # fmt: skip
        super().__init__(name, tcp, host, dirs, cpus)
        self._interface = interface

    def plug_in(self, cable: TcpCable) -> None:
        namespace = self._network.namespace(self.name)
        self._network.move(self._interface, namespace, cable.a.name)

    def set_up(self, port: Port, neighbours: Sequence[Port]) -> None:
        where = Where(f"host {self.name}", self.place.host.runner, self.place.words)
        set_up_nic(where, port, neighbours, self._tcp)

        def has_link() -> bool:
            [seen] = load_json(where.run("ip", "-json", "link", "show", "dev", port.name).stdout)
            return "LOWER_UP" in seen["flags"]

        await_true(
            has_link, within_s=_LINK_S, every_s=0.1, alive=lambda: None,
            otherwise=lambda: f"the virtual function {self._interface} of host {self.name} has no "
            "link: its physical function has none",
        )  # fmt: skip
