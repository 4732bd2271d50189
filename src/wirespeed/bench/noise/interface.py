# SPDX-License-Identifier: Apache-2.0
"""What do the probes need of a program that runs on the host they watch?"""

from __future__ import annotations

from typing import Any, Protocol


class WatchingProgram(Protocol):
    """A wsdp process (bench/wsdp/program.py)."""

    def ask(self, command: str) -> Any:
        """The answer to a command. Raises BenchError."""
        ...

    def export(self, command: str) -> str:
        """What a command writes to a file. Raises BenchError."""
        ...

    def ended(self) -> str | None:
        """How it ended; None while it runs."""
        ...
