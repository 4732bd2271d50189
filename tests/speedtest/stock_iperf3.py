# SPDX-License-Identifier: Apache-2.0
"""The distribution's iperf3 as a server."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

from tests.support.ports import reserved_port


@contextmanager
def stock_server(*options: str) -> Iterator[int]:
    """Run `iperf3 -s` and yield its port.

    It listens on the reserved address alone: on all of them, another test may have the port.
    """
    port = reserved_port()
    with subprocess.Popen(
        ["iperf3", "-s", "-B", "127.0.0.1", "-p", str(port), "--forceflush", *options],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        said: list[str] = []
        try:
            while "listening" not in (line := process.stdout.readline()):
                assert line, f"iperf3 did not start: {''.join(said)}"
                said.append(line)
            yield port
        finally:
            process.kill()
