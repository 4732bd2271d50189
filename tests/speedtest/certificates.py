# SPDX-License-Identifier: Apache-2.0
"""Self-signed certificates of servers under test."""

from __future__ import annotations

import ssl
import subprocess
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Certificate:
    """A certificate for 127.0.0.1 with its key, as PEM files."""

    cert: Path
    key: Path

    @property
    def options(self) -> tuple[str, ...]:
        return ("--tls-cert", str(self.cert), "--tls-key", str(self.key))

    def trusting(self, *alpn: str) -> ssl.SSLContext:
        """Return a client context that trusts only this certificate."""
        context = ssl.create_default_context(cafile=str(self.cert))
        context.set_alpn_protocols(alpn)
        return context


def make_certificate(folder: Path, name: str) -> Certificate:
    made = Certificate(folder / f"{name}.crt", folder / f"{name}.key")
    command = [
        *("openssl", "req", "-x509", "-nodes", "-days", "2", "-subj", f"/CN={name}"),
        *("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"),
        *("-addext", "subjectAltName=IP:127.0.0.1"),
        # rustls believes no server that is an authority itself.
        *("-addext", "basicConstraints=critical,CA:FALSE"),
        *("-keyout", str(made.key), "-out", str(made.cert)),
    ]
    subprocess.run(command, check=True, capture_output=True)
    return made
