# SPDX-License-Identifier: Apache-2.0
"""Compare the CPU time of recording with that of Prometheus and of PCP: same counters, same rate.

All three run at the same time and store octets, packets, errors and drops of the interfaces of one
network namespace, 10 times a second: `wirespeed kpi record`; Prometheus with its node exporter;
PCP's pmcd and pmlogger. CPU time is that of all processes of each, user and kernel. A sample is one
stored value. Ends with 1 where one of them misses the rate, because the shares would not compare.

Needs root, and Debian's packages prometheus, prometheus-node-exporter and pcp. The last two start
services when they are installed, so `make setup-dev` leaves them out; the benchmark names those
that are missing.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.kpi_cost import (
    HZ,
    PER_INTERFACE,
    SERIES,
    SPACE,
    await_load,
    child_of,
    interfaces,
    recorder,
    steady_octets,
    summary,
)
from benchmarks.shared.cpu_counter import counting

LONG_S, WARM_UP_S = 65.0, 5.0
# Longest start of a server.
START_S = 60.0
# A smaller share of the asked rate is another rate.
LEAST_RATE = 0.9
# Ports in a network namespace of the benchmark's own.
EXPORTER_PORT, PROMETHEUS_PORT, PMCD_PORT = 9100, 9090, 44321
EXPORTER, PROMETHEUS = "prometheus-node-exporter", "prometheus"
PMCD, PMLOGGER, PMDUMPLOG = "/usr/lib/pcp/bin/pmcd", "/usr/bin/pmlogger", "/usr/bin/pmdumplog"
PMDA = "/var/lib/pcp/pmdas/linux/pmda_linux.so"
PACKAGES = {
    PROMETHEUS: "prometheus", EXPORTER: "prometheus-node-exporter", PMCD: "pcp", PMLOGGER: "pcp",
    PMDUMPLOG: "pcp",
}  # fmt: skip
# The same counters by the names of the node exporter, and of PCP with its numbers (pmns(5)).
EXPORTED = "node_network_(receive|transmit)_(bytes|packets|errs|drop)_total"
COUNTED = {
    "in": {"bytes": "60:3:0", "packets": "60:3:1", "errors": "60:3:2", "drops": "60:3:3"},
    "out": {"bytes": "60:3:8", "packets": "60:3:9", "errors": "60:3:10", "drops": "60:3:11"},
}
METRICS = [f"network.interface.{way}.{name}" for way, names in COUNTED.items() for name in names]


@dataclass(frozen=True, slots=True)
class Measured:
    """Cost of one of the three."""

    name: str
    share: float
    """CPU time of all its processes as a share of one CPU."""
    samples_per_s: float

    @property
    def ns_a_sample(self) -> float:
        return self.share / self.samples_per_s * 1e9


@contextmanager
def inside(log: Path, *words: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run a program in the namespace while the block runs; it writes to the log."""
    with log.open("wb") as said:
        process = subprocess.Popen(
            ["ip", "netns", "exec", SPACE, *words], stdout=said, stderr=subprocess.STDOUT
        )
        try:
            yield process
        finally:
            process.terminate()
            process.wait()


@contextmanager
def prometheus(folder: Path) -> Iterator[list[int]]:
    """Run Prometheus and its node exporter with the one collector; yield their process ids."""
    config = folder / "prometheus.yml"
    every = f"{1000 // HZ}ms"
    config.write_text(
        f"global: {{scrape_interval: {every}, scrape_timeout: {every}}}\n"
        "scrape_configs:\n"
        "  - job_name: node\n"
        f"    static_configs: [{{targets: ['127.0.0.1:{EXPORTER_PORT}']}}]\n"
        "    metric_relabel_configs:\n"
        f"      - {{source_labels: [__name__], regex: '{EXPORTED}', action: keep}}\n"
    )
    log = folder / "prometheus.log"
    with (
        inside(
            folder / "exporter.log", EXPORTER,
            f"--web.listen-address=127.0.0.1:{EXPORTER_PORT}", "--web.disable-exporter-metrics",
            "--collector.disable-defaults", "--collector.netdev",
        ) as exporter,
        inside(
            log, PROMETHEUS, f"--config.file={config}", f"--storage.tsdb.path={folder / 'tsdb'}",
            f"--web.listen-address=127.0.0.1:{PROMETHEUS_PORT}",
        ) as server,
    ):  # fmt: skip
        await_start("Prometheus", log, lambda: appended() > 0)
        yield [exporter.pid, server.pid]


def appended() -> float:
    """Return the number of samples that Prometheus has stored; 0 where it does not answer."""
    address = f"http://127.0.0.1:{PROMETHEUS_PORT}/metrics"
    done = subprocess.run(
        ["ip", "netns", "exec", SPACE, "curl", "-s", address],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    return sum(
        float(line.split()[-1])
        for line in done.stdout.splitlines()
        if line.startswith("prometheus_tsdb_head_samples_appended_total")
    )


@contextmanager
def pcp(folder: Path) -> Iterator[list[int]]:
    """Run pmcd with the agent of Linux, and pmlogger; yield their process ids."""
    agents, config, names = folder / "pmcd.conf", folder / "pmlogger.conf", folder / "names"
    agents.write_text(f"linux 60 dso linux_init {PMDA}\n")
    names.write_text(name_space())
    config.write_text(f"log mandatory on {1000 // HZ} msec {{ {' '.join(METRICS)} }}\n")
    host, log = f"127.0.0.1:{PMCD_PORT}", folder / "pmcd.log"
    asked = ["ip", "netns", "exec", SPACE, "pminfo", "-h", host, "-f", METRICS[0]]
    with inside(
        folder / "pmcd.out", PMCD, "-f", "-A", "-c", str(agents), "-n", str(names),
        "-i", "127.0.0.1", "-p", f"{PMCD_PORT}", "-s", str(folder / "pmcd.socket"),
        "-l", str(log), "-U", "root",
    ) as server:  # fmt: skip
        await_start("pmcd", log, lambda: succeeds(asked))
        with inside(
            folder / "pmlogger.out", PMLOGGER, "-h", host, "-c", str(config),
            "-l", str(folder / "pmlogger.log"), str(folder / "archive"),
        ) as logger:  # fmt: skip
            await_start("pmlogger", folder / "pmlogger.log", (folder / "archive.0").exists)
            yield [server.pid, logger.pid]


def succeeds(words: list[str]) -> bool:
    return subprocess.run(words, capture_output=True, check=False).returncode == 0


def name_space() -> str:
    """Return PCP's names of the counters, as a file of pmns(5)."""
    nodes = {"root": ["network"], "network": ["interface"], "network.interface": [*COUNTED]}
    for way, names in COUNTED.items():
        nodes[f"network.interface.{way}"] = [f"{name} {number}" for name, number in names.items()]
    lines = [line for node, below in nodes.items() for line in (f"{node} {{", *below, "}")]
    return "\n".join([*lines, ""])


def await_start(name: str, log: Path, started: Callable[[], bool]) -> None:
    """Wait until `started` returns True; end the benchmark with the log where it does not."""
    deadline = time.monotonic() + START_S
    while not started():
        if time.monotonic() > deadline:
            said = log.read_text(errors="replace") if log.exists() else "no log"
            raise SystemExit(f"kpi_overhead: {name} did not start within {START_S:g} s:\n{said}")
        time.sleep(0.2)


def archived(folder: Path) -> tuple[int, int]:
    """Return the number of values in PCP's archive, and its octets."""
    shown = subprocess.run(
        [PMDUMPLOG, str(folder / "archive")], capture_output=True, text=True, check=True
    ).stdout
    octets = sum(path.stat().st_size for path in folder.glob("archive.*"))
    return shown.count(" value "), octets


def measured(folder: Path) -> tuple[list[Measured], float]:
    """Run all three at once; return what each took, and PCP's octets a sample."""
    store = folder / "ours.sqlite"
    words = ("--collector", "interfaces", "--rate", f"{HZ}", "--for", f"{START_S * 2 + LONG_S:g}s")
    with ExitStack() as stack:
        scraping = stack.enter_context(prometheus(folder))
        logging = stack.enter_context(pcp(folder))
        logged_from = time.monotonic()
        process = stack.enter_context(recorder(store, *words, space=SPACE))
        recording = [process.pid, child_of(process)]
        await_load(process, WARM_UP_S)
        groups = {"wirespeed": recording, "prometheus": scraping, "pcp": logging}
        counters = {
            name: [stack.enter_context(counting(pid, time=True)) for pid in pids]
            for name, pids in groups.items()
        }
        stored, begun = appended(), time.monotonic()
        used = {name: [read() for read in reads] for name, reads in counters.items()}
        await_load(process, LONG_S)
        after = {name: [read() for read in reads] for name, reads in counters.items()}
        seconds = time.monotonic() - begun
        scraped = (appended() - stored) / seconds
        logged_s = time.monotonic() - logged_from
    own = summary(store)
    values, octets = archived(folder)
    rates = {
        "wirespeed": own["samples"] / ((own["end_ns"] - own["begin_ns"]) / 1e9),
        "prometheus": scraped,
        "pcp": values / logged_s,
    }
    found = [
        Measured(name, (sum(after[name]) - sum(used[name])) / seconds / 1e9, rates[name])
        for name in groups
    ]
    return found, octets / values


def report(found: list[Measured], octets_of_pcp: float, octets: float) -> None:
    """Print shares, and ratios with what is asked."""
    for each in found:
        print(
            f"cpu_{each.name} {each.share:.2%} of a CPU, {each.samples_per_s:.0f} samples/s, "
            f"{each.ns_a_sample / 1e3:.2f} us/sample"
        )
    own, scraper, logger = (each.ns_a_sample for each in found)
    print(f"cpu_to_prometheus {own / scraper:.2f} times a sample asked 0.3 at most")
    print(f"cpu_to_pcp {own / logger:.2f} times a sample asked 2 at most")
    print(f"octets_pcp {octets_of_pcp:.2f} octets/sample")
    print(f"octets_wirespeed {octets:.2f} octets/sample of {SERIES} counters that all change")
    print(f"octets_to_pcp {octets / octets_of_pcp:.2f} times asked 0.5 at most")


def check_rates(found: list[Measured]) -> None:
    """End the benchmark where one has stored too few samples."""
    wanted = SERIES * HZ
    for each in found:
        if each.samples_per_s < LEAST_RATE * wanted:
            raise SystemExit(
                f"kpi_overhead: {each.name} stored {each.samples_per_s:.0f} samples/s of "
                f"{wanted}; run it on a machine that is not busy"
            )


def check_installed() -> None:
    """End the benchmark where a package is missing."""
    missing = sorted({name for program, name in PACKAGES.items() if not shutil.which(program)})
    if missing:
        raise SystemExit(
            f"kpi_overhead: not installed: {', '.join(missing)}; "
            f"apt-get install --no-install-recommends {' '.join(missing)}"
        )


def main() -> None:
    if os.geteuid() != 0:
        raise SystemExit("kpi_overhead: needs root")
    check_installed()
    with tempfile.TemporaryDirectory() as name, interfaces(SERIES // PER_INTERFACE):
        subprocess.run(["ip", "-n", SPACE, "link", "set", "lo", "up"], check=True)
        found, octets_of_pcp = measured(Path(name))
        octets = steady_octets(Path(name))
    report(found, octets_of_pcp, octets)
    check_rates(found)


if __name__ == "__main__":
    main()
