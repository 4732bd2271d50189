# SPDX-License-Identifier: Apache-2.0
"""Define what the probes need from a program on the watched host."""

from __future__ import annotations

from typing import Any, Protocol


class WatchingProgram(Protocol):
    """A wsdp process (bench/program/wsdp.py)."""

    def ask(self, command: str) -> Any:
        """Return the answer to a command. Raises BenchError."""
        ...

    def export(self, command: str) -> str:
        """Return the file that a command writes. Raises BenchError."""
        ...

    def ended(self) -> str | None:
        """Return how the program ended; None while it runs."""
        ...
