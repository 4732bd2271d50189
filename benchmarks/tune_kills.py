# SPDX-License-Identifier: Apache-2.0
"""Kill `wirespeed tune` at random moments, clean up, and compare the host with how it was.

Needs root. Each round starts a search that changes settings of Open vSwitch and of the host, kills
it by SIGKILL after a random time, and runs `wirespeed clean`. Prints the rounds after which a
setting, the huge pages, the network namespaces or the programs of a bench differed, and names what
did; and the rounds in which the kill left something to clean. SEED=2 takes other moments.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from benchmarks.shared.figures import show

from wirespeed.bench.host.changes import start_ticks
from wirespeed.remote.local import LocalRunner

KILLS = 10
SEED = int(os.environ.get("SEED", "1"))
LONGEST_S = 30.0
WIRESPEED = (sys.executable, "-m", "wirespeed.cli.main")
STAT = Path("/proc/sys/vm/stat_interval")
# Whole folders: tune must not change anything else, either.
WATCHED = (
    "proc/sys/vm/stat_interval", "proc/sys/kernel/nmi_watchdog", "proc/sys/kernel/numa_balancing",
    "proc/sys/kernel/sched_*", "sys/kernel/mm/transparent_hugepage/*", "sys/kernel/mm/ksm/run",
    "sys/devices/system/node/node*/hugepages/*/nr_hugepages", "proc/irq/*/smp_affinity",
    "sys/devices/virtual/workqueue/*cpumask", "sys/class/net/*/mtu", "run/netns/*",
    "sys/devices/system/cpu/cpu*/cpufreq/scaling_governor",
)  # fmt: skip
PROGRAMS = ("ovs-vswitchd", "ovsdb-server", "wsdp", "qemu-system")


def text(path: Path) -> str:
    """Return a file's content; an empty text of what is no file that can be read."""
    try:
        return path.read_text() if path.is_file() else ""
    except OSError:
        return ""


def state() -> Mapping[str, str]:
    """Return the content of every watched file, and the programs of a bench, by pid."""
    files = {str(path): text(path) for pattern in WATCHED for path in Path("/").glob(pattern)}
    runner = LocalRunner()
    names = {int(path.parent.name): text(path) for path in Path("/proc").glob("[0-9]*/comm")}
    # A zombie has ended; whoever inherited it reaps it when it likes.
    programs = {
        f"process {pid}": name
        for pid, name in names.items()
        if name.startswith(PROGRAMS) and start_ticks(runner, pid) is not None
    }
    return files | programs


def factors() -> str:
    other = 119 if int(STAT.read_text()) != 119 else 118
    return f"""
[[factor]]
name = "stat interval"
host = {{ "{STAT}" = "{other}" }}

[[factor]]
name = "EMC"
"sut.vswitch.ovs.emc" = false
"""


def killed(folder: Path, environment: Mapping[str, str], after_s: float) -> None:
    """Start a search and kill it after this time. Raises RuntimeError if it ended by itself."""
    point = ("--set", "topology.kind=p2p", "--set", "traffic.frame=64")
    with subprocess.Popen(
        [*WIRESPEED, "tune", "quickstart", *point, "--factors", "factors.toml"],
        cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
    ) as search:  # fmt: skip
        assert search.stderr is not None
        try:
            code = search.wait(after_s)
        except subprocess.TimeoutExpired:
            search.kill()
        else:
            said = search.stderr.read().decode()[-1000:]
            raise RuntimeError(f"tune ended by itself with exit status {code}: {said}")


def differences(before: Mapping[str, str], after: Mapping[str, str]) -> Iterable[str]:
    for name in sorted(before.keys() | after.keys()):
        if before.get(name) != after.get(name):
            yield f"{name}: {before.get(name)!r} became {after.get(name)!r}"


def main() -> int:
    draw = random.Random(SEED)
    wrong = to_clean = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        own = {"XDG_STATE_HOME": f"{name}/state", "WIRESPEED_STORE": f"{name}/runs.sqlite"}
        (folder / "factors.toml").write_text(factors())
        for number in range(1, KILLS + 1):
            after_s = draw.uniform(0, LONGEST_S)
            before, environment = state(), {**os.environ, **own}
            killed(folder, environment, after_s)
            left = list(differences(before, state()))
            to_clean += bool(left)
            subprocess.run(
                [*WIRESPEED, "clean"], env=environment, stdout=subprocess.DEVNULL, check=True
            )
            found = list(differences(before, state()))
            wrong += bool(found)
            print(f"# kill {number} after {after_s:.1f} s: {len(left)} differences", end="; ")
            print(*found or ["as before"], sep="; ", flush=True)
    show("tune_kills_left_something_to_clean", to_clean, f"of-{KILLS}")
    show("tune_kills_host_as_before", KILLS - wrong, f"of-{KILLS} asked {KILLS}")
    return 0 if wrong == 0 < to_clean else 1


if __name__ == "__main__":
    sys.exit(main())
