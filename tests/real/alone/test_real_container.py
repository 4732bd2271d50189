# SPDX-License-Identifier: Apache-2.0
"""Run a function in a container, and check what the kernel grants its process."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.effort import cases
from tests.support.real_bench import conserving_trials, opened, planned, point, process
from wirespeed.bench.assembly.layout import control_cpu
from wirespeed.model.cpuset import parse_list
from wirespeed.model.study.spec import Frames, Sut, Vnf, Vswitch

pytestmark = pytest.mark.usefixtures("needs_root")

LOAD_FPS, DURATION_S = 20_000.0, 0.2
IN_CONTAINER = Vnf(placement="container")
POINTS = {
    "pvp": point("pvp", bidirectional=True, vnf=IN_CONTAINER),
    "pvp, testpmd": point("pvp", vnf=Vnf("testpmd", placement="container")),
    "chain of 2": point("chain", 2, vnf=IN_CONTAINER),
    "host": point("host", vnf=IN_CONTAINER),
    "pvp, Linux bridge": replace(
        point("pvp", vnf=IN_CONTAINER), sut=Sut(Vswitch(kind="linux-bridge"), IN_CONTAINER)
    ),
}
# Each function of a chain is in a container of its own, as that of the others.
SHORT = cases(POINTS, "pvp", "chain of 2")
# Number of CAP_IPC_LOCK in linux/capability.h.
IPC_LOCK = 14


@pytest.mark.parametrize("spec", SHORT.values(), ids=SHORT.keys())
def test_frames_of_a_function_in_a_container_are_accounted_for(
    spec: Frames, tmp_path: Path
) -> None:
    with opened(spec, tmp_path) as bench:
        for seen in conserving_trials(bench, LOAD_FPS, DURATION_S):
            assert seen.total("received") > 0
        assert {thread.role for thread in seen.threads} >= {"generator"}


def test_container_has_cpus_rights_and_namespaces_of_a_pod(tmp_path: Path) -> None:
    spec = POINTS["pvp"]
    plan = planned(spec)
    (guest,) = plan.sut_host.guests
    with opened(spec, tmp_path, plan) as bench:
        pid = process(bench, guest.name).pid
        groups = Path(f"/proc/{pid}/cgroup").read_text(encoding="ascii")
        status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
        (name,) = set(re.findall(r"/(wirespeed-\S+)$", groups, re.MULTILINE))
        (cgroup,) = (p for p in Path("/sys/fs/cgroup").glob(f"**/{name}") if p.is_dir())
        cpus = (cgroup / "cpuset.cpus").read_text(encoding="ascii")
        assert set(parse_list(cpus)) == {control_cpu(plan.sut_host), *guest.cpus.value}
        assert _value(status, "CapBnd") == f"{1 << IPC_LOCK:016x}"
        assert _value(status, "CapEff") == f"{1 << IPC_LOCK:016x}"
        assert _value(status, "NoNewPrivs") == "1"
        for namespace in ("mnt", "ipc", "uts", "net"):
            assert os.readlink(f"/proc/{pid}/ns/{namespace}") != os.readlink(
                f"/proc/self/ns/{namespace}"
            )
        # Evidence names threads by their ID on the host.
        assert os.readlink(f"/proc/{pid}/ns/pid") == os.readlink("/proc/self/ns/pid")
    assert not cgroup.exists()


def _value(status: str, key: str) -> str:
    found = re.search(rf"^{key}:\s+(\S+)$", status, re.MULTILINE)
    assert found
    return found[1]
