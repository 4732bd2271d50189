# SPDX-License-Identifier: Apache-2.0
"""Time large fleets: 200 hosts audited through Ansible, 1,000 compared and rendered.

The 200 are recorded hosts behind the tests' connection plugin (tests/support/ansible_connection):
modules are packed, sent and run as on any host, but as processes of this machine. So the hosts' own
work is done here, too, and a controller of real hosts is faster. Its memory is the peak of
ansible-playbook with its forks, as PSS, sampled every half second. The 1,000 are derived from the
recorded hosts (shared/fleet_hosts.py) and come out of an SQLite store. The ratio is to the promised
30 s.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.shared.figures import show
from benchmarks.shared.fleet_hosts import HOSTS, RECORDED, figures, made_up, repeats
from tests.support.ansible_fleet import Fleet, install_collection

from wirespeed.fleet.comparison import compare
from wirespeed.report.page.fleet_page import fleet_page
from wirespeed.store.snapshots import add_snapshot, newest_snapshots
from wirespeed.store.store import Store

AUDITED, FORKS = 200, 50
COMPARED, PROMISE_S = 1000, 30.0
_SAMPLE_S = 0.5


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="fleet-") as folder:
        audit_all(Path(folder))
    with tempfile.TemporaryDirectory(prefix="fleet-") as folder:
        compare_all(Path(folder))


def audit_all(folder: Path) -> None:
    """Audit, fetch and add through ansible-playbook into a store."""
    names = {f"host-{n:03}": str(HOSTS / RECORDED[n % len(RECORDED)]) for n in range(AUDITED)}
    store = str(folder / "store.sqlite")
    fleet = Fleet(folder, install_collection(folder / "galaxy"), store, names)
    argv = fleet.command("wirespeed.nfv.audit", "--forks", str(FORKS))
    with (folder / "log").open("wb") as log:
        begun = time.perf_counter()
        process = subprocess.Popen(argv, env=fleet.environment(), cwd=folder, stdout=log)
        peak_kib = 0
        while process.poll() is None:
            peak_kib = max(peak_kib, _controller_kib(process.pid))
            time.sleep(_SAMPLE_S)
        took_s = time.perf_counter() - begun
    with Store(store) as opened:
        found = sum(1 for _ in newest_snapshots(opened))
    if process.returncode or found != AUDITED:
        sys.exit(f"{found} of {AUDITED} hosts: {(folder / 'log').read_text()[-2000:]}")
    show("fleet_audit_200_recorded_hosts", took_s, "s")
    show("fleet_audit_rate", AUDITED / took_s, "hosts/s")
    show("fleet_audit_controller_memory", peak_kib / 1024, "MiB")


def _controller_kib(pid: int) -> int:
    """Return PSS of ansible-playbook and its forks, without what stands for the hosts."""
    total, pids = 0, [pid]
    while pids:
        one = Path(f"/proc/{pids.pop()}")
        try:
            if b"ansible-playbook" not in (one / "cmdline").read_bytes():
                continue
            for line in (one / "smaps_rollup").read_text().splitlines():
                if line.startswith("Pss:"):
                    total += int(line.split()[1])
            pids += map(int, (one / "task" / one.name / "children").read_text().split())
        except OSError:
            continue  # it has ended meanwhile
    return total


def compare_all(folder: Path) -> None:
    """Compare from the store to the page."""
    snapshots = list(made_up(COMPARED))
    names = [(one.member.name, one.hardware) for one in snapshots]
    measured, repeated = list(figures(names)), list(repeats([n for n, _ in names[:8]]))
    with Store(str(folder / "store.sqlite")) as store:
        for one in snapshots:
            add_snapshot(store, one)
        begun = time.perf_counter()
        fleet = compare(newest_snapshots(store), measured, repeated)
        page = fleet_page(fleet, "benchmark")
        (folder / "fleet.html").write_text(page, encoding="utf-8")
        took_s = time.perf_counter() - begun
    show("fleet_compare_and_render_1000_hosts", took_s, "s", took_s / PROMISE_S, "promise-30s")
    show("fleet_page_1000_hosts", len(page) / 1e6, "MB")
    show("fleet_outlying_hosts_found", len({h for c in fleet.figures for h in c.outliers}), "hosts")


if __name__ == "__main__":
    main()
