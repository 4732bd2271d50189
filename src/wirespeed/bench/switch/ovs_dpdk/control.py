# SPDX-License-Identifier: Apache-2.0
"""Control the bench's own Open vSwitch by its own sockets.

OVS tools fall back to the system's instance where a path is missing, so every path is given.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from wirespeed.bench.interface import BenchError
from wirespeed.model.input.bounded import load_json
from wirespeed.remote.interface import Runner
from wirespeed.sources import unixctl
from wirespeed.sources.errors import NoAnswer
from wirespeed.sources.openflow import port_configs


@dataclass(frozen=True, slots=True)
class Control:
    """Sockets of one Open vSwitch instance."""

    runner: Runner
    run_dir: PurePosixPath
    bridge: str
    """Name of its first bridge."""

    @property
    def database(self) -> str:
        return f"unix:{self.run_dir / 'db.sock'}"

    @property
    def daemon(self) -> str:
        """ovs-vswitchd's unixctl socket."""
        return str(self.run_dir / "vswitchd.ctl")

    @property
    def environment(self) -> dict[str, str]:
        path = str(self.run_dir)
        return {"OVS_RUNDIR": path, "OVS_DBDIR": path, "OVS_LOGDIR": path}

    def vsctl(self, *words: str, wait: bool = True, timeout_s: float = 60.0) -> str:
        """Change the configuration; with wait, return when the vSwitch has applied it."""
        # The database's socket exists a moment before it listens: --retry.
        argv = ["ovs-vsctl", f"--db={self.database}", "--retry", f"--timeout={timeout_s:.0f}"]
        if not wait:
            argv.append("--no-wait")
        done = self.runner.run([*argv, *words], timeout_s=timeout_s + 5, env=self.environment)
        return done.stdout

    def rows(self, table: str, *columns: str) -> list[dict[str, Any]]:
        """Return the rows of a table of the configuration database."""
        columns_option = f"--columns={','.join(columns)}"
        answer = load_json(self.vsctl("--format=json", columns_option, "list", table, wait=False))
        return [dict(zip(answer["headings"], row, strict=True)) for row in answer["data"]]

    def ofctl(
        self, command: str, *arguments: str, stdin: str | None = None, bridge: str | None = None
    ) -> str:
        """Return the answer to an ovs-ofctl command, in OpenFlow 1.5 for its custom counters.

        bridge: name of the bridge; None for the first.
        """
        management = f"unix:{self.run_dir / (bridge or self.bridge)}.mgmt"
        argv = ["ovs-ofctl", "-O", "OpenFlow15", command, management, *arguments]
        return self.runner.run(argv, stdin=stdin, env=self.environment).stdout

    def port_configs(self, bridge: str) -> dict[str, str]:
        """Return the configuration bits of each port of a bridge. Raises BenchError."""
        try:
            return port_configs(self.runner, str(self.run_dir / f"{bridge}.mgmt"))
        except NoAnswer as fault:
            raise BenchError(fault.what) from fault

    def ask(self, command: str, *params: str) -> str:
        """Return ovs-vswitchd's answer to a command that ovs-appctl would send.

        Raises BenchError.
        """
        return str(self._request(self.daemon, command, params))

    def transact(self, *operations: object) -> Any:
        """Return the database's answers to operations (RFC 7047, 4.1.3). Raises BenchError."""
        return self._request(str(self.run_dir / "db.sock"), "transact", operations)

    def _request(self, path: str, method: str, params: Sequence[object]) -> Any:
        try:
            return unixctl.request(self.runner, path, method, params)
        except NoAnswer as fault:
            raise BenchError(fault.what) from fault
