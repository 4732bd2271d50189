# SPDX-License-Identifier: Apache-2.0
"""Check the CPUs that a bench of TCP gives to PMD threads and programs."""

from __future__ import annotations

import pytest

from tests.unit.plan.test_bench import host, planned
from wirespeed.model.errors import BadInput
from wirespeed.model.study.spec import TcpStreams, Vswitch
from wirespeed.model.study.tcp import Tcp


def pmd_point(*cpus: int) -> TcpStreams:
    tcp = Tcp(path="ovs-pmd", offloads=False, queues=2)
    return TcpStreams(tcp, Vswitch(pmd_cpus=cpus or None))


def test_hosts_with_tcp_leave_the_pmd_threads_their_cpus() -> None:
    plan = planned(host(cores=4), pmd_point(1, 2))
    assert plan.vswitch is not None
    assert (plan.vswitch.pmd_cpus.value, plan.vswitch.rx_queues.value) == ((1, 2), 2)
    assert [guest.cpus.value for guest in plan.guests] == [(0,), (3,)]
    unasked = planned(host(cores=4), pmd_point())
    assert unasked.vswitch is not None
    assert unasked.vswitch.pmd_cpus.value == (3,)
    assert plan.huge_pages.value[0].count * 2 == plan.vswitch.socket_memory_mib.value[0]


def test_pmd_threads_may_take_every_cpu_and_the_plan_says_so() -> None:
    plan = planned(host(cores=2), pmd_point(0, 1))
    assert [guest.cpus.value for guest in plan.guests] == [(0,), (1,)]
    with pytest.raises(BadInput, match=r"CPUs \[7\]"):
        planned(host(cores=2), pmd_point(1, 7))
