# SPDX-License-Identifier: Apache-2.0
"""Check that every obstacle to a measurement is reported before anything is changed."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatch

import pytest

from wirespeed.bench.assembly.hosts import BenchHost, check_hosts
from wirespeed.model.errors import BadInput
from wirespeed.remote.interface import Completed, HostUnreachable
from wirespeed.remote.local import LocalRunner

NIC = "/sys/bus/pci/devices/0000:3b:00.0"
VERSION = "wsdp 0.1.0, DPDK 22.11.11"


@dataclass
class LabHost(LocalRunner):
    """A host in working order, unless a test says otherwise."""

    called: str = "dut"
    reachable: bool = True
    clock_off_s: float = 0.0
    version: str | None = VERSION
    paths: Sequence[str] = (f"{NIC}", f"{NIC}/net/ens1f0", "/sys/class/net/ens1f0",
                            "/sys/class/net/ens1f1", "/opt/wsdp")  # fmt: skip
    links: Mapping[str, object] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.called

    @property
    def address(self) -> str:
        return f"ssh://root@{self.called}"

    def glob(self, *patterns: str) -> tuple[str, ...]:
        return tuple(path for path in self.paths for p in patterns if fnmatch(path, p))

    def run(
        self,
        argv: Sequence[str],
        *,
        timeout_s: float = 30.0,  # noqa: ARG002
        stdin: str | None = None,  # noqa: ARG002
        env: Mapping[str, str] | None = None,  # noqa: ARG002
        check: bool = True,  # noqa: ARG002
    ) -> Completed:
        if not self.reachable:
            raise HostUnreachable(f"{self.called} could not be reached", "Check ssh.")
        match argv[0]:
            case "ip":
                link = {"addr_info": [], **self.links.get(argv[-1], {})}  # type: ignore[dict-item]
                return Completed((), 0, json.dumps([link]), "")
            case "date":
                return Completed((), 0, f"{time.time() + self.clock_off_s:.9f}\n", "")
            case "sh":  # command -v
                return Completed((), 1, "", "")
            case "/opt/wsdp":
                return Completed((), 0, f"{self.version}\n", "")
        return Completed((), 0, "", "")


def error_of(*hosts: BenchHost) -> str:
    with pytest.raises(BadInput) as caught:
        check_hosts(hosts, "lab.toml")
    assert caught.value.what.startswith("lab.toml: ")
    return caught.value.what


def bench_host(runner: LabHost, wsdp: str | None = "/opt/wsdp", **ports: str) -> BenchHost:
    return BenchHost(runner, ports or {"east": "ens1f0", "west": "ens1f1"}, wsdp)


def test_hosts_in_working_order_are_accepted() -> None:
    tester = bench_host(LabHost("tester", clock_off_s=0.5), east="0000:3B:00.0", west="ens1f1")
    check_hosts([tester, bench_host(LabHost())], "lab.toml")


@pytest.mark.parametrize(
    ("host", "said"),
    [
        (bench_host(LabHost(reachable=False)),
         'hosts.dut.ssh = "ssh://root@dut": dut could not be reached. Check ssh.'),
        (bench_host(LabHost(), east="0000:5e:00.0"),
         'hosts.dut.ports.east = "0000:5e:00.0": there is no such PCI device on dut'),
        (bench_host(LabHost(), east="eth9"),
         'hosts.dut.ports.east = "eth9": there is no such interface on dut, which has ens1f0'),
        (bench_host(LabHost(links={"ens1f0": {"addr_info": [
            {"local": "192.0.2.1", "scope": "global"}, {"local": "fe80::1", "scope": "link"}]}})),
         'hosts.dut.ports.east = "ens1f0": ens1f0 is in use: it has the address 192.0.2.1'),
        (bench_host(LabHost(links={"ens1f0": {"master": "bond0"}}), east="0000:3b:00.0"),
         'hosts.dut.ports.east = "0000:3b:00.0": ens1f0 is in use: it belongs to bond0'),
        (bench_host(LabHost(clock_off_s=-37)),
         'hosts.dut = "-37.0 s": its clock is that far from this machine\'s; at most 1 s'),
        (bench_host(LabHost(), wsdp="/opt/none"),
         'hosts.dut.wsdp = "/opt/none": wsdp is not on dut: /opt/none does not exist'),
        (bench_host(LabHost(), wsdp=None),
         'hosts.dut.wsdp = "(omitted)": wsdp is not on dut: '),
        (bench_host(LabHost(version="wsdp 0.1.0, DPDK 24.11.3")),
         'hosts.dut.wsdp = "/opt/wsdp": is wsdp 0.1.0, DPDK 24.11.3, but on tester it is '
         "wsdp 0.1.0, DPDK 22.11.11"),
    ],
)  # fmt: skip
def test_an_unusable_host_is_an_error_of_its_key(host: BenchHost, said: str) -> None:
    assert said in error_of(bench_host(LabHost("tester")), host)


def test_all_of_it_is_reported_at_once() -> None:
    said = error_of(
        bench_host(LabHost("tester", reachable=False)),
        bench_host(LabHost(clock_off_s=5), wsdp="/opt/none", east="eth9"),
    )
    assert "lab.toml: 4 errors" in said
