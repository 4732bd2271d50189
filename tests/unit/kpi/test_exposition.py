# SPDX-License-Identifier: Apache-2.0
"""Check what Prometheus is shown: names, units, labels, of collectors that fail, too."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from typing import cast

import pytest
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.openmetrics.exposition import generate_latest as openmetrics
from prometheus_client.parser import text_string_to_metric_families

from tests.unit.kpi.fake_host import BOOT, FakeHost
from tests.unit.kpi.test_file_collectors import STAT
from tests.unit.kpi.test_ovs_collectors import pmd_answers, port_answers
from wirespeed.kpi.collectors import ovs_pmd, ovs_ports
from wirespeed.kpi.collectors.cpu import CpuCollector
from wirespeed.kpi.collectors.memory import MemoryCollector
from wirespeed.kpi.collectors.ovs_pmd import OvsPmdCollector
from wirespeed.kpi.collectors.ovs_ports import OvsPortCollector
from wirespeed.kpi.exposition import Exposition, Names
from wirespeed.kpi.interface import Collector, Missing, Source, Values
from wirespeed.remote.interface import Runner
from wirespeed.sources.errors import NoAnswer

HOST = cast(Runner, FakeHost({**BOOT, "/proc/stat": STAT}))


class Answering:
    """A collector of Open vSwitch whose daemon answers from texts, or not at all."""

    cheap = False

    def __init__(
        self, kind: OvsPmdCollector | OvsPortCollector, values: Values | Exception
    ) -> None:
        self.name, self.metrics, self._values = kind.name, kind.metrics, values

    def probe(self, runner: Runner) -> Sequence[Source] | Missing:  # noqa: ARG002
        return (self,)

    def read(self) -> Values:
        if isinstance(self._values, Exception):
            raise self._values
        return self._values

    def close(self) -> None: ...


def switch() -> list[Collector]:
    pmd = Values("1-2", ovs_pmd.read("system", pmd_answers))
    ports = Values("1-2", ovs_ports.read("system", port_answers))
    return [Answering(OvsPmdCollector(), pmd), Answering(OvsPortCollector(), ports)]


def registry(collectors: Sequence[Collector], names: Names = Names.OWN) -> CollectorRegistry:
    made = CollectorRegistry(auto_describe=False)
    made.register(Exposition(HOST, collectors, names))
    return made


def values(text: str) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_own_names_have_base_units_and_total() -> None:
    found = values(generate_latest(registry([CpuCollector(), *switch()])).decode())
    assert found["wirespeed_cpu_user_seconds_total", (("cpu", "0"),)] == 199.93
    pmd = (("cpu", "1"), ("numa", "0"), ("switch", "system"))
    assert found["wirespeed_pmd_busy_cycles_total", pmd] == 2000
    rxq = (*pmd[:1], ("interface", "dpdk0"), *pmd[1:2], ("rxq", "0"), *pmd[2:])
    assert found["wirespeed_pmd_rxq_usage_ratio", rxq] == 0.43
    assert found["wirespeed_collector_up", (("collector", "ovs-pmd"),)] == 1


def test_names_of_dataplane_node_exporter_have_its_labels_and_units() -> None:
    text = generate_latest(registry(switch(), Names.DATAPLANE_NODE_EXPORTER)).decode()
    found = values(text)
    assert found["ovs_pmd_emc_hits", (("cpu", "1"), ("numa", "0"))] == 900
    rxq = (("cpu", "1"), ("interface", "dpdk0"), ("numa", "0"), ("rxq", "0"))
    assert found["ovs_pmd_rxq_usage", rxq] == 43
    assert found["ovs_interface_rx_packets", (("interface", "dpdk0"),)] == 1000
    assert found["ovs_coverage_datapath_drop_upcall_error_total", ()] == 4
    assert not any(name.startswith("wirespeed") for name, _ in found)


@pytest.mark.parametrize(
    "fault",
    [
        NoAnswer("ovs-vswitchd has ended"), AttributeError("'list' has no 'items'"),
        ZeroDivisionError("division by zero"),
    ],
)  # fmt: skip
def test_collector_that_fails_or_has_nothing_is_down_and_the_rest_goes_on(
    fault: Exception,
) -> None:
    broken = Answering(OvsPmdCollector(), fault)
    found = values(generate_latest(registry([broken, MemoryCollector(), CpuCollector()])).decode())
    up = {labels[0][1]: n for (name, labels), n in found.items() if name.endswith("collector_up")}
    assert up == {"ovs-pmd": 0, "memory": 0, "cpu": 1}
    assert ("wirespeed_cpu_user_seconds_total", (("cpu", "0"),)) in found


@pytest.mark.parametrize("names", list(Names))
def test_promtool_accepts_the_text_of_every_series(names: Names) -> None:
    text = generate_latest(registry([CpuCollector(), *switch()], names))
    done = subprocess.run(
        ["promtool", "check", "metrics"], input=text, capture_output=True, check=False
    )
    # Names of others are not ours to choose: promtool only advises against some.
    assert not done.stderr or names is not Names.OWN, done.stderr.decode()
    assert done.returncode in ((0,) if names is Names.OWN else (0, 3))


def test_openmetrics_text_ends_with_its_mark() -> None:
    assert openmetrics(registry(switch())).endswith(b"# EOF\n")
