# SPDX-License-Identifier: Apache-2.0
"""Check which competing processes used the CPUs, from two looks at every process."""

from __future__ import annotations

import os
import subprocess
import sys

from tests.unit.bench.fake_host import FakeHost
from wirespeed.bench.noise.competing import Competing, Usage, by_cpu, competing, look
from wirespeed.model.result.observation import Competitor
from wirespeed.remote.local import LocalRunner

INIT, WIRESPEED, SERVER, SHELL, MAKE, COMPILER, ELSEWHERE, SOFTIRQ = range(1, 9)


def stat(pid: int, name: str, parent: int, own: int, children: int = 0) -> dict[str, str]:
    """Return the stat file of a process. own, children: ticks, split over user and system."""
    split = [own // 2, own - own // 2, children // 2, children - children // 2]
    fields = ["S", parent, *[0] * 9, *split, *[0] * 24]
    return {f"/proc/{pid}/stat": f"{pid} ({name}) " + " ".join(map(str, fields))}


def status(pid: int, cpus: str) -> dict[str, str]:
    masks = f"Cpus_allowed:\tff\nCpus_allowed_list:\t{cpus}\n"
    return {f"/proc/{pid}/status": f"Name:\tx\n{masks}"}


STATUS = {
    pid: status(pid, "6-7" if pid == ELSEWHERE else "0-3")
    for pid in (INIT, WIRESPEED, SERVER, SHELL, MAKE, ELSEWHERE, SOFTIRQ)
}


def host(*stats: dict[str, str]) -> FakeHost:
    files: dict[str, str] = {}
    for each in (*STATUS.values(), *stats):
        files |= each
    return FakeHost(files)


BEFORE = (
    stat(INIT, "init", 0, 10),
    stat(WIRESPEED, "wirespeed", INIT, 100, 50),
    stat(SERVER, "server", WIRESPEED, 500),
    stat(SHELL, "sh", INIT, 20, 30),
    stat(ELSEWHERE, "sh", INIT, 10),
    stat(SOFTIRQ, "ksoftirqd/0", 2, 10),
)


def between(before: FakeHost, after: FakeHost) -> Competing:
    looks = look(before), look(after)
    return competing(after, *looks, bench=[SERVER], parent=WIRESPEED, cpus={0, 1})


def test_cpu_time_of_the_bench_is_not_competing() -> None:
    after = host(
        stat(INIT, "init", 0, 10),
        stat(WIRESPEED, "wirespeed", INIT, 104, 900),
        stat(SERVER, "server", WIRESPEED, 900),
        stat(SHELL, "sh", INIT, 50, 30),
        stat(ELSEWHERE, "sh", INIT, 300),
        stat(SOFTIRQ, "ksoftirqd/0", 2, 200),
    )
    assert between(host(*BEFORE), after) == Competing(0.34, ("sh", "wirespeed"))


def test_a_program_that_came_and_went_counts_and_what_it_used_before_does_not() -> None:
    """make ran before; its compiler only in between; both have ended and were waited for."""
    before = host(*BEFORE, stat(MAKE, "make (old)", SHELL, 1000, 3000))
    after = host(*BEFORE[:3], stat(SHELL, "sh", INIT, 20, 30 + 1000 + 3000 + 77), *BEFORE[4:])
    assert between(before, after) == Competing(0.77, ("sh",))


def test_the_time_of_a_program_whose_parent_ended_goes_to_its_next_ancestor() -> None:
    before = host(
        *BEFORE, stat(MAKE, "make", SHELL, 5), stat(COMPILER, "cc1", MAKE, 400),
    )  # fmt: skip
    after = host(
        stat(INIT, "init", 0, 10, 400 + 12), *BEFORE[1:3], stat(SHELL, "sh", INIT, 20, 30 + 5),
        *BEFORE[4:],
    )  # fmt: skip
    assert between(before, after).cpu_s == 0.12


HOLDER = """
import subprocess, sys
burn = "import time\\nwhile time.process_time() < 0.3: pass"
subprocess.run([sys.executable, "-c", burn], check=True)
print("burnt", flush=True)
input()
"""


def test_a_real_program_that_came_and_went_is_seen() -> None:
    """Its parent shows it: a child that still exists and used next to nothing."""
    runner, cpus = LocalRunner(), os.sched_getaffinity(0)
    before = look(runner)
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "burnt\n"
        after = look(runner)
        seen, without = (
            competing(runner, before, after, bench=bench, parent=os.getpid(), cpus=cpus)
            for bench in ([], [holder.pid])
        )
        holder.communicate("\n")
    assert seen.cpu_s - without.cpu_s > 0.28


def test_competitors_are_named_by_cpu_without_the_bench() -> None:
    before = {
        10: Usage("wsdp", 1, 100, 0, 0), 11: Usage("hog", 1, 0, 0, 1),
        12: Usage("ovs-ofctl", 10, 0, 0, 0), 13: Usage("cc1", 1, 50, 0, 0),
    }  # fmt: skip
    after = {
        10: Usage("wsdp", 1, 200, 0, 0), 11: Usage("hog", 1, 40, 0, 1),
        12: Usage("ovs-ofctl", 10, 9, 0, 0), 13: Usage("cc1", 1, 60, 0, 0),
        14: Usage("elsewhere", 1, 90, 0, 7), 15: Usage("ksoftirqd/1", 2, 5, 0, 1),
    }  # fmt: skip
    found = by_cpu(before, after, bench={10}, us=1, cpus={0, 1}, elapsed_s=1.0)
    assert found == (Competitor("hog", 1, 0.4, pid=11), Competitor("cc1", 0, 0.1, pid=13))


def test_by_cpu_time_of_programs_that_ended_counts_for_their_parent() -> None:
    before = {10: Usage("wsdp", 1, 0, 0, 0), 20: Usage("sh", 1, 1, 30, 1)}
    after = {
        1: Usage("we", 0, 0, 500, 0), 10: Usage("wsdp", 1, 0, 70, 1), 20: Usage("sh", 1, 2, 69, 1),
    }  # fmt: skip
    found = by_cpu(before, after, bench={10}, us=1, cpus={0, 1}, elapsed_s=1.0)
    assert found == (Competitor("sh", 1, 0.4, pid=20),)


def test_by_cpu_earlier_time_of_a_child_that_ended_is_not_its_parents() -> None:
    before = {20: Usage("sh", 1, 1, 0, 1), 21: Usage("cc1", 20, 300, 0, 1)}
    after = {20: Usage("sh", 1, 1, 340, 1)}
    found = by_cpu(before, after, bench=(), us=1, cpus={1}, elapsed_s=1.0)
    assert found == (Competitor("sh", 1, 0.4, pid=20),)
