# SPDX-License-Identifier: Apache-2.0
"""Compare what recording costs with Prometheus and with PCP: the same interfaces, 10 Hz, one host.

All three read /proc/net/dev's counters of the same network namespace, one after the other:
`wirespeed kpi record`; Prometheus with its node exporter; PCP's pmcd and pmlogger. CPU time is that
of all processes of each. A sample is one value that was stored. Needs root, and Debian's packages
prometheus, prometheus-node-exporter and pcp, which `make bench` does not install: without them it
reports that and ends.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.cpu_counter import counting, has_cycles
from benchmarks.kpi_cost import (
    PER_INTERFACE,
    SERIES,
    SPACE,
    await_load,
    child_of,
    interfaces,
    recorder,
    summary,
)

HZ, LONG_S, WARM_UP_S = 10, 60.0, 5.0
EXPORTER_PORT, PROMETHEUS_PORT, PMCD_PORT = 9100, 9090, 44321  # in a namespace of their own
EXPORTER, PROMETHEUS = "prometheus-node-exporter", "prometheus"
PMCD, PMLOGGER = "/usr/lib/pcp/bin/pmcd", "/usr/bin/pmlogger"
PMDA = "/var/lib/pcp/pmdas/linux/pmda_linux.so"
METRICS = [
    f"network.interface.{direction}.{name}"
    for direction in ("in", "out")
    for name in ("bytes", "packets", "errors", "drops")
]
UNIT = "cycles/sample" if has_cycles() else "ns of CPU time/sample"


@dataclass(frozen=True, slots=True)
class Measured:
    cpu: float
    """Cycles or ns a sample."""
    octets: float | None
    """Octets a sample; None where the store is no archive of its own."""


@contextmanager
def inside(*words: str, **more: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run a program in the namespace while the block runs."""
    process = subprocess.Popen(
        ["ip", "netns", "exec", SPACE, *words], env={**os.environ, **more},
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        yield process
    finally:
        process.terminate()
        process.wait()


def ours(folder: Path) -> Measured:
    store = folder / "ours.sqlite"
    words = ("--collector", "interfaces", "--rate", f"{HZ}", "--for", f"{LONG_S + 10:g}s")
    with recorder(store, *words, space=SPACE) as process:
        sampler = child_of(process.pid)
        await_load(process, WARM_UP_S)
        with counting(sampler) as sampled, counting(process.pid) as stored:
            before = summary(store)["samples"]
            await_load(process, LONG_S)
            used, samples = sampled() + stored(), summary(store)["samples"] - before
    found = summary(store)
    return Measured(used / samples, found["octets"] / found["samples"])


def scraped(folder: Path) -> Measured:
    """Measure Prometheus and its node exporter, which has only the collector of interfaces."""
    config = folder / "prometheus.yml"
    config.write_text(
        f"global: {{scrape_interval: {1000 // HZ}ms, scrape_timeout: {1000 // HZ}ms}}\n"
        "scrape_configs: [{job_name: node, static_configs: "
        f"[{{targets: ['127.0.0.1:{EXPORTER_PORT}']}}]}}]\n"
    )
    with ExitStack() as stack:
        exporter = stack.enter_context(inside(
            EXPORTER, f"--web.listen-address=127.0.0.1:{EXPORTER_PORT}",
            "--web.disable-exporter-metrics", "--collector.disable-defaults", "--collector.netdev",
        ))  # fmt: skip
        server = stack.enter_context(inside(
            PROMETHEUS, f"--config.file={config}", f"--storage.tsdb.path={folder / 'tsdb'}",
            f"--web.listen-address=127.0.0.1:{PROMETHEUS_PORT}",
        ))  # fmt: skip
        await_samples()
        time.sleep(WARM_UP_S)
        with counting(exporter.pid) as read, counting(server.pid) as stored:
            before = appended()
            time.sleep(LONG_S)
            return Measured((read() + stored()) / (appended() - before), None)


def await_samples() -> None:
    deadline = time.monotonic() + 60
    while not appended():
        if time.monotonic() > deadline:
            raise SystemExit("Prometheus has no sample after 60 s")
        time.sleep(0.2)


def appended() -> float:
    """Return the samples that Prometheus has stored."""
    address = f"http://127.0.0.1:{PROMETHEUS_PORT}/metrics"
    done = subprocess.run(
        ["ip", "netns", "exec", SPACE, "curl", "-s", address], capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    return sum(
        float(line.split()[-1])
        for line in done.stdout.splitlines()
        if line.startswith("prometheus_tsdb_head_samples_appended_total")
    )


def logged(folder: Path) -> Measured:
    """Measure PCP: pmcd with the metrics of Linux, and pmlogger."""
    agents, config, archive = folder / "pmcd.conf", folder / "pmlogger.conf", folder / "archive"
    agents.write_text(f"linux 60 dso linux_init {PMDA}\n")
    config.write_text(f"log mandatory on {1000 // HZ} msec {{ {' '.join(METRICS)} }}\n")
    host = f"127.0.0.1:{PMCD_PORT}"
    with ExitStack() as stack:
        server = stack.enter_context(inside(
            PMCD, "-f", "-A", "-c", str(agents), "-i", "127.0.0.1", "-p", f"{PMCD_PORT}",
            "-l", str(folder / "pmcd.log"), "-s", str(folder / "pmcd.socket"), "-U", "root",
        ))  # fmt: skip
        await_pmcd(host, folder)
        logger = stack.enter_context(inside(
            PMLOGGER, "-h", host, "-c", str(config), "-l", str(folder / "pmlogger.log"),
            str(archive),
        ))  # fmt: skip
        time.sleep(WARM_UP_S)
        with counting(server.pid) as read, counting(logger.pid) as stored:
            time.sleep(LONG_S)
            used = read() + stored()
    samples = logged_samples(archive)
    octets = sum(path.stat().st_size for path in folder.glob(f"{archive.name}.*"))
    # The archive also has the time before the CPU time was counted.
    return Measured(used / (samples * LONG_S / (LONG_S + WARM_UP_S)), octets / samples)


def await_pmcd(host: str, folder: Path) -> None:
    deadline = time.monotonic() + 30
    words = ["ip", "netns", "exec", SPACE, "pminfo", "-h", host, "-f", METRICS[0]]
    while subprocess.run(words, capture_output=True, check=False).returncode:
        if time.monotonic() > deadline:
            raise SystemExit(f"pmcd does not answer:\n{(folder / 'pmcd.log').read_text()}")
        time.sleep(0.2)


def logged_samples(archive: Path) -> float:
    """Return the number of values in an archive."""
    words = ["pmlogsummary", "-NFy", str(archive), *METRICS]
    shown = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    return sum(float(line.split()[-2]) for line in shown.splitlines() if "network." in line)


def main() -> None:
    if os.geteuid() != 0:
        raise SystemExit("kpi_overhead needs root")
    missing = [each for each in (PROMETHEUS, EXPORTER, PMCD, PMLOGGER) if not shutil.which(each)]
    if missing:
        raise SystemExit(
            f"kpi_overhead: not installed: {', '.join(missing)}; "
            "apt-get install prometheus prometheus-node-exporter pcp"
        )
    with tempfile.TemporaryDirectory() as name, interfaces(SERIES // PER_INTERFACE):
        folder = Path(name)
        subprocess.run(["ip", "-n", SPACE, "link", "set", "lo", "up"], check=True)
        found = [measure(folder) for measure in (ours, scraped, logged)]
    report(*found)


def report(own: Measured, prometheus: Measured, pcp: Measured) -> None:
    print(f"cpu_wirespeed {own.cpu:.0f} {UNIT}")
    print(f"cpu_prometheus {prometheus.cpu:.0f} {UNIT}")
    print(f"cpu_pcp {pcp.cpu:.0f} {UNIT}")
    print(f"cpu_over_prometheus {own.cpu / prometheus.cpu:.2f} times asked 0.3 at most")
    print(f"cpu_over_pcp {own.cpu / pcp.cpu:.2f} times asked 2 at most")
    assert own.octets is not None
    assert pcp.octets is not None
    print(f"octets_wirespeed {own.octets:.2f} octets/sample")
    print(f"octets_pcp {pcp.octets:.2f} octets/sample")
    print(f"octets_over_pcp {own.octets / pcp.octets:.2f} times asked 0.5 at most")


if __name__ == "__main__":
    main()
