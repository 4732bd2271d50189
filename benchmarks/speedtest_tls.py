# SPDX-License-Identifier: Apache-2.0
"""Measure the cost of TLS and HTTP/2 against clear text, with the same server and client.

Downloads and uploads of one connection run over loopback, from one server that listens on both.
curl speaks HTTP/1.1 in clear text, HTTP/1.1 over TLS and HTTP/2 over TLS, our own client the first
two. In turns, three rounds of two seconds; medians. Both ends share this machine, so the client's
part of the cryptography is in the rates, too: curl's (OpenSSL) or ours (rustls). The server's own
part is its CPU time per Gbit. Set-up of connection and TLS is not in the rates. Prints `name value
unit ratio-to-what`.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from benchmarks.shared.figures import show
from benchmarks.speedtest_iperf3 import OURS, Run, cpu_s, server
from tests.support.ports import reserved_port

ROUNDS = 3
SECONDS = 2
_TIMED_OUT = 28  # curl's exit status when --max-time is over: how each of these transfers ends
_CURL_SAYS = "%{size_download} %{size_upload} %{time_pretransfer} %{time_total} %{http_version}"


@dataclass(frozen=True, slots=True)
class Served:
    """One server process: its ports, its PID, and the certificate to trust."""

    http: int
    https: int
    pid: int
    certificate: Path


@dataclass(frozen=True, slots=True)
class Variant:
    """A way to move octets with one client: measure(upload) returns octets and seconds."""

    name: str
    clear: str
    measure: Callable[[bool], tuple[float, float]]


def curl(served: Served, secure: bool, version: str, upload: bool) -> tuple[float, float]:
    """Return octets moved, and the time in s. Raises RuntimeError when curl failed."""
    where = f"https://127.0.0.1:{served.https}" if secure else f"http://127.0.0.1:{served.http}"
    words = ["curl", "--silent", "--show-error", "--output", "/dev/null", "--write-out", _CURL_SAYS]
    words += ["--max-time", str(SECONDS), f"--http{version}", "--cacert", str(served.certificate)]
    # Over HTTP/1.1 the server needs the length beforehand; no transfer gets that far.
    ends = ["-H", f"Content-Length: {1 << 50}", "-H", "Transfer-Encoding:"]
    length = ends if version == "1.1" else []
    target = ["-T", "/dev/zero", "-X", "POST", *length] if upload else []
    path = "/nq/upload" if upload else "/nq/large"
    done = subprocess.run(
        [*words, *target, where + path], check=False, capture_output=True, text=True
    )
    if done.returncode != _TIMED_OUT:
        raise RuntimeError(f"curl ended with {done.returncode}: {done.stderr.strip()}")
    down, up, pretransfer_s, total_s, spoken = done.stdout.split()
    # An upload over HTTP/2 is not answered before its end.
    if spoken != "0" and not version.startswith(spoken):
        raise RuntimeError(f"asked for HTTP/{version}, curl spoke {spoken}")
    return float(up if upload else down), float(total_s) - float(pretransfer_s)


def own(served: Served, secure: bool, upload: bool) -> tuple[float, float]:
    """Return octets moved, and the time in s, of our LibreSpeed client."""
    port = served.https if secure else served.http
    words = [str(OURS), "client", f"127.0.0.1:{port}", "--protocol", "librespeed", "--json"]
    words += ["--time", str(SECONDS)] + ([] if upload else ["--reverse"])
    words += ["--tls", "--ca", str(served.certificate)] if secure else []
    done = subprocess.run(words, check=True, capture_output=True, text=True)
    [way] = json.loads(done.stdout)["results"][0]["directions"]
    return way["bytes"], way["bytes"] * 8 / way["bits_per_second"]


def variants(served: Served) -> Iterator[Variant]:
    """Yield each variant after the one in clear text that it is compared with."""
    clear = "curl, HTTP/1.1 in clear text"
    yield Variant(clear, clear, lambda up: curl(served, False, "1.1", up))
    yield Variant("curl, HTTP/1.1 over TLS", clear, lambda up: curl(served, True, "1.1", up))
    yield Variant("curl, HTTP/2 over TLS", clear, lambda up: curl(served, True, "2", up))
    clear = "own client, HTTP/1.1 in clear text"
    yield Variant(clear, clear, lambda up: own(served, False, up))
    yield Variant("own client, HTTP/1.1 over TLS", clear, lambda up: own(served, True, up))


def once(served: Served, variant: Variant, upload: bool) -> Run:
    before = cpu_s(served.pid)
    octets, seconds = variant.measure(upload)
    gbit = octets * 8 / 1e9
    return Run(gbit / seconds, (cpu_s(served.pid) - before) / gbit)


def report(served: Served, upload: bool) -> None:
    way = "upload" if upload else "download"
    runs: dict[str, list[Run]] = {}
    compared = list(variants(served))
    for _ in range(ROUNDS):
        for variant in compared:
            runs.setdefault(variant.name, []).append(once(served, variant, upload))
    for variant in compared:
        gbps, cpu = _medians(runs[variant.name])
        clear_gbps, clear_cpu = _medians(runs[variant.clear])
        same = variant.name == variant.clear
        ratio, cpu_ratio = (None, None) if same else (gbps / clear_gbps, cpu / clear_cpu)
        name = f"{way}, {variant.name}:"
        show(name, gbps, "Gbps", ratio, f"clear text ({clear_gbps:.3g})")
        show(
            name, cpu * 1e3, "server CPU ms/Gbit", cpu_ratio, f"clear text ({clear_cpu * 1e3:.3g})"
        )


def _medians(runs: list[Run]) -> tuple[float, float]:
    return median(run.gbps for run in runs), median(run.cpu_s_per_gbit for run in runs)


def make_certificate(folder: Path) -> tuple[Path, Path]:
    """Make a certificate of this machine's loopback address, and its key."""
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1",
         "-addext", "subjectAltName=IP:127.0.0.1", "-addext", "basicConstraints=CA:FALSE",
         "-newkey", "ec", "-pkeyopt",
         "ec_paramgen_curve:prime256v1", "-keyout", str(key), "-out", str(certificate)],
        check=True, capture_output=True,
    )  # fmt: skip
    return certificate, key


def main() -> int:
    if not OURS.exists():
        print(f"{OURS} is missing; build it with: cargo build --release (in speedtest/)")
        return 1
    said = subprocess.run(["curl", "--version"], check=True, capture_output=True, text=True).stdout
    congestion = Path("/proc/sys/net/ipv4/tcp_congestion_control").read_text().strip()
    print(f"# {said.splitlines()[0]}; {congestion}, loopback, one connection, median of {ROUNDS} "
          f"rounds of {SECONDS} s")  # fmt: skip
    http, https = reserved_port(), reserved_port()
    with tempfile.TemporaryDirectory() as folder:
        certificate, key = make_certificate(Path(folder))
        command = [str(OURS), "serve", "--http", f"127.0.0.1:{http}",
                   "--https", f"127.0.0.1:{https}", "--tls-cert", str(certificate),
                   "--tls-key", str(key)]  # fmt: skip
        with server(command, https) as pid:
            served = Served(http, https, pid, certificate)
            for upload in (False, True):
                report(served, upload)
    return 0


if __name__ == "__main__":
    sys.exit(main())
