# SPDX-License-Identifier: Apache-2.0
"""Check the collectors of DPDK programs on answers of DPDK 22.11 and 23.11."""

from __future__ import annotations

from typing import Any, cast

import pytest

from wirespeed.kpi.collectors import dpdk, wsdp
from wirespeed.kpi.collectors.dpdk_xstats import XstatsCollector
from wirespeed.sources.errors import NoAnswer, Refused
from wirespeed.sources.telemetry import Telemetry

STATS = {
    "ipackets": 10, "opackets": 20, "ibytes": 1, "obytes": 2, "imissed": 3, "ierrors": 4,
    "oerrors": 5, "rx_nombuf": 6, "q_ipackets": [10, 0], "q_opackets": [0, 20],
}  # fmt: skip
OLD: dict[str, Any] = {
    "/": ["/", "/ethdev/list", "/ethdev/stats", "/mempool/list", "/mempool/info"],
    "/ethdev/list": [0],
    "/ethdev/stats,0": STATS,
    "/mempool/list": ["mb_pool_0"],
    "/mempool/info,mb_pool_0": {"name": "mb_pool_0", "size": 8191},
}
NEW = {
    **OLD,
    "/": [*OLD["/"], "/eal/lcore/usage"],
    "/mempool/info,mb_pool_0": {"size": 8191, "total_cache_count": 7, "common_pool_count": 8000},
    "/eal/lcore/usage": {"lcore_ids": [1], "total_cycles": [100], "busy_cycles": [40]},
}
WSDP = {
    "/wirespeed/stats": {
        "gen": {"rx": 0, "tx": 9, "tx_fail": 1, "discard": 0, "handled": 0, "held": 0}
    },
    "/wirespeed/lcores": {"1": {"busy_ns": 5, "total_ns": 10, "polls": 3}},
    "/wirespeed/ports": {"east": STATS},
    "/wirespeed/rings": {"r0": {"size": 512, "used": 7}},
    "/wirespeed/info": {"tasks": {"gen": {"type": "gen", "lcore": 1}}},
}


class Answers:
    def __init__(self, answers: dict[str, Any]) -> None:
        self._answers = answers

    def ask(self, command: str) -> Any:
        if command not in self._answers:
            raise Refused(f"{command} is not known")
        return self._answers[command]


def telemetry(answers: dict[str, Any]) -> Telemetry:
    return cast(Telemetry, Answers(answers))


def test_program_of_22_11_is_asked_only_for_what_it_lists() -> None:
    found = dpdk.read("testpmd", telemetry(OLD))
    assert found["ethdev_rx_missed_packets", ("testpmd", "0")] == 3
    assert found["ethdev_queue_packets", ("testpmd", "0", "1", "tx")] == 20
    assert found["mempool_size", ("testpmd", "mb_pool_0")] == 8191
    assert not any(key in ("mempool_free", "eal_lcore_cycles") for key, _ in found)


def test_program_of_23_11_has_free_buffers_and_busy_cycles() -> None:
    found = dpdk.read("testpmd", telemetry(NEW))
    assert found["mempool_free", ("testpmd", "mb_pool_0")] == 8007
    assert found["eal_lcore_busy_cycles", ("testpmd", "1")] == 40


def test_wsdp_has_tasks_lcores_ports_and_rings() -> None:
    found = wsdp.read("tg", telemetry(WSDP))
    assert found["task_tx_fail_packets", ("tg", "gen")] == 1
    assert found["lcore_busy_seconds", ("tg", "1")] == 5
    assert found["device_rx_no_buffer_packets", ("tg", "east")] == 6
    assert found["ring_used", ("tg", "r0")] == 7


def test_answer_without_a_counter_is_no_value() -> None:
    with pytest.raises(KeyError, match="polls"):
        wsdp.read(
            "tg", telemetry({**WSDP, "/wirespeed/lcores": {"1": {"busy_ns": 1, "total_ns": 2}}})
        )


SINK = {
    "latency_count": 9, "latency_min_ns": 1, "latency_avg_ns": 2, "latency_p50_ns": 3,
    "latency_p90_ns": 4, "latency_p99_ns": 5, "latency_p999_ns": 6, "latency_max_ns": 7,
}  # fmt: skip


def test_wsdp_has_latencies_of_sinks_once_a_frame_was_stamped() -> None:
    tasks = {"gen": {"type": "gen", "lcore": 1}, "sink": {"type": "sink", "lcore": 1}}
    answers = {**WSDP, "/wirespeed/info": {"tasks": tasks}, "/wirespeed/task,sink": SINK}
    found = wsdp.read("tg", telemetry(answers))
    assert found["task_latency_seconds", ("tg", "sink", "p99")] == 5
    answers["/wirespeed/task,sink"] = {**SINK, "latency_count": 0}
    assert not any(key == "task_latency_seconds" for key, _ in wsdp.read("tg", telemetry(answers)))


def test_xstats_that_were_never_above_0_are_omitted_and_the_others_stay() -> None:
    collector = XstatsCollector()
    answers = {
        "/ethdev/list": [0],
        "/ethdev/xstats,0": {"rx_q0_packets": 7, "rx_crc_errors": 0, "tx_errors": 0},
    }
    assert collector.read("testpmd", telemetry(answers)) == {
        ("ethdev_xstats", ("testpmd", "0", "rx_q0_packets")): 7
    }
    answers["/ethdev/xstats,0"] = {"rx_q0_packets": 0, "rx_crc_errors": 1, "tx_errors": 0}
    assert collector.read("testpmd", telemetry(answers)) == {
        ("ethdev_xstats", ("testpmd", "0", "rx_q0_packets")): 0,
        ("ethdev_xstats", ("testpmd", "0", "rx_crc_errors")): 1,
    }


def test_xstats_are_bounded_by_port() -> None:
    many = {f"rx_q{n}_packets": 1 for n in range(1000)}
    found = XstatsCollector().read("x", telemetry({"/ethdev/list": [0], "/ethdev/xstats,0": many}))
    assert len(found) == 256


@pytest.mark.parametrize(
    "answers", [{"/ethdev/list": {"0": 1}}, {"/ethdev/list": [0], "/ethdev/xstats,0": [1, 2]}]
)
def test_xstats_of_another_type_are_no_value(answers: dict[str, object]) -> None:
    with pytest.raises(NoAnswer, match=r"is no (list|dict) but"):
        XstatsCollector().read("x", telemetry(answers))
