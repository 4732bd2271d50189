# SPDX-License-Identifier: Apache-2.0
"""Check that factors of Open vSwitch change what it does to real frames."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.real_bench import drops, frames_are_conserved, opened, point, vswitch
from wirespeed.bench.interface import BenchError
from wirespeed.bench.session import RealBench
from wirespeed.bench.switch.ovs_dpdk import factors
from wirespeed.model.frame import Encapsulation
from wirespeed.model.result.hop_counts import DropCause
from wirespeed.model.study.ovs import (
    Ovs,
    PageSize,
    PortMemory,
    RxqAssign,
    VlanTranslation,
)
from wirespeed.model.study.spec import (
    Vswitch,
)

pytestmark = pytest.mark.usefixtures("needs_root")

LOAD_FPS, DURATION_S = 20_000.0, 0.2


@contextmanager
def bench(ovs: Ovs, logs: Path, queues: int = 1) -> Iterator[RealBench]:
    """Yield p2p with frames that have passed and are all accounted for."""
    spec = point("p2p")
    wanted = Vswitch(ovs=ovs, rx_queues=queues)
    with opened(replace(spec, sut=replace(spec.sut, vswitch=wanted)), logs) as opened_bench:
        seen = opened_bench.measure(LOAD_FPS, DURATION_S)
        assert seen.total("received") > 0
        assert frames_are_conserved(seen), seen.drops
        yield opened_bench


def hits(found: RealBench) -> Counter[str]:
    """Return the cache hits of its threads, by cache, since the bench was opened."""
    shown = vswitch(found).control.ask("dpif-netdev/pmd-stats-show")
    counted = Counter[str]()
    for name, number in re.findall(r"(\w+) hits: (\d+)", shown):
        counted[name] += int(number)
    return counted


def test_caches_are_used_as_configured(tmp_path: Path) -> None:
    with bench(Ovs(), tmp_path) as found:
        assert hits(found)["emc"] > 0
        assert hits(found)["smc"] == 0
    with bench(Ovs(emc=False, smc=True), tmp_path) as found:
        assert hits(found)["emc"] == 0
        assert hits(found)["smc"] > 0
    with bench(Ovs(emc=False), tmp_path) as found:
        assert hits(found)["emc"] == hits(found)["smc"] == 0
        assert hits(found)["megaflow"] > 0


def test_queues_are_pinned_and_memory_is_apart(tmp_path: Path) -> None:
    ovs = Ovs(rxq_assign=RxqAssign.PINNED, memory=PortMemory.PER_PORT)
    with bench(ovs, tmp_path, queues=2) as found:
        control = vswitch(found).control
        assert "isolated : true" in control.ask("dpif-netdev/pmd-rxq-show")
        pools = {
            port: re.search(r"mempool <(\w+)>", control.ask("netdev-dpdk/get-mempool-info", port))
            for port in ("east", "west")
        }
        names = {match[1] for match in pools.values() if match is not None}
        assert len(names) == 2


def test_an_idle_pmd_thread_sleeps_and_balances(tmp_path: Path) -> None:
    ovs = Ovs(pmd_max_sleep_us=500, auto_lb=True, rxq_assign=RxqAssign.GROUP)
    with bench(ovs, tmp_path) as found:
        control = vswitch(found).control
        shown = control.ask("dpif-netdev/pmd-perf-show")
        slept = re.search(r"Sleep time \(us\):\s+(\d+)", shown)
        assert slept is not None
        assert int(slept[1]) > 0
        described = found.describe()["Open vSwitch"]
        assert isinstance(described, dict)
        assert described["other_config"]["pmd-auto-lb"] == "true"
        assert described["other_config"]["pmd-rxq-assign"] == "group"


def kernel_makes_one(pool: Path) -> bool:
    """Return whether the kernel still has contiguous memory for one more page of this size.

    After hours of work, memory that it cannot move may be in every stretch of 1 GiB. A CPU without
    such pages (pdpe1gb), as emulated ones often are, has no such pool.
    """
    if not pool.is_dir():
        return False
    number = pool / "nr_hugepages"
    before = int(number.read_text())
    number.write_text(str(before + 1))
    made = int(number.read_text()) > before
    number.write_text(str(before))
    return made


def test_open_vswitch_memory_is_in_pages_of_the_wanted_size(tmp_path: Path) -> None:
    pool = Path("/sys/kernel/mm/hugepages/hugepages-1048576kB")
    if not kernel_makes_one(pool):
        pytest.skip("no page of 1 GiB can be made: memory is fragmented, or the CPU has none")
    with bench(Ovs(pages=PageSize.GIB_1), tmp_path):
        used = int((pool / "nr_hugepages").read_text()) - int((pool / "free_hugepages").read_text())
        assert used >= 1


@pytest.mark.parametrize(
    ("kind", "vlan", "actions"),
    [
        ("p2p", VlanTranslation.NONE, ()),
        ("pvp", VlanTranslation.STRIP, ("pop_vlan", "push_vlan(vid=100")),
        ("pvp", VlanTranslation.REWRITE, ("push_vlan(vid=1000", "push_vlan(vid=100,")),
    ],
)
def test_frames_pass_two_bridges_with_the_tag_that_each_has(
    kind: str, vlan: VlanTranslation, actions: tuple[str, ...], tmp_path: Path
) -> None:
    tags = Encapsulation.VLAN if actions else Encapsulation.NONE
    spec = point(kind, bidirectional=True, tags=tags)
    wanted = Vswitch(ovs=Ovs(bridges=2, vlan=vlan))
    with opened(replace(spec, sut=replace(spec.sut, vswitch=wanted)), tmp_path) as found:
        for load_fps in (LOAD_FPS, math.inf):
            seen = found.measure(load_fps, DURATION_S)
            assert frames_are_conserved(seen), seen.drops
            assert all(way.received > 0 for way in seen.directions)
        control = vswitch(found).control
        assert control.ask("dpif/show").count("(patch: peer=") == 2
        flows = control.ask("dpctl/dump-flows")
        for action in actions:
            assert action in flows, flows


def test_frames_from_a_patch_port_without_a_rule_are_dropped_there(tmp_path: Path) -> None:
    spec = point("p2p")
    wanted = Vswitch(ovs=Ovs(bridges=2))
    with opened(replace(spec, sut=replace(spec.sut, vswitch=wanted)), tmp_path) as found:
        control = vswitch(found).control
        # Frames whose count has not reached their rule yet would count for the drop rule.
        control.ask("revalidator/purge")
        control.ofctl(
            "del-flows", "in_port=3,dl_dst=02:00:01:00:00:00", bridge=f"{control.bridge}i"
        )
        seen = found.measure(LOAD_FPS, DURATION_S)
    assert frames_are_conserved(seen), seen.drops
    assert drops(seen)["switch:patch", DropCause.NO_FLOW] == seen.total("offered") > 0


def test_an_open_vswitch_that_lacks_a_factor_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(factors, "_SINCE", {"smc": (99, 0)})
    with (
        pytest.raises(BenchError, match="smc = True needs Open vSwitch 99"),
        bench(Ovs(smc=True), tmp_path),
    ):
        pass
