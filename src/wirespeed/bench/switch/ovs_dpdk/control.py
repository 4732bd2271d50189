# SPDX-License-Identifier: Apache-2.0
"""How is our own Open vSwitch told and asked things? Always by its own sockets, never by default.

The OVS tools fall back to the system's instance where a path is missing; here every path is given.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from wirespeed.bench.switch.ovs_dpdk import rpc
from wirespeed.model.bounded import load_json
from wirespeed.remote.interface import Runner


@dataclass(frozen=True, slots=True)
class Control:
    """The sockets of one Open vSwitch instance. bridge: its first."""

    runner: Runner
    run_dir: PurePosixPath
    bridge: str

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
        """Change the configuration; with wait, returns when the vSwitch has taken it over."""
        # The database's socket is there a moment before it listens: --retry.
        argv = ["ovs-vsctl", f"--db={self.database}", "--retry", f"--timeout={timeout_s:.0f}"]
        if not wait:
            argv.append("--no-wait")
        done = self.runner.run([*argv, *words], timeout_s=timeout_s + 5, env=self.environment)
        return done.stdout

    def rows(self, table: str, *columns: str) -> list[dict[str, Any]]:
        """A table of the configuration database."""
        columns_option = f"--columns={','.join(columns)}"
        answer = load_json(self.vsctl("--format=json", columns_option, "list", table, wait=False))
        return [dict(zip(answer["headings"], row, strict=True)) for row in answer["data"]]

    def ofctl(
        self, command: str, *arguments: str, stdin: str | None = None, bridge: str | None = None
    ) -> str:
        """The bridge's answer to an ovs-ofctl command; 1.5 is the first with custom counters.

        bridge: which one, where there are several; None: the first.
        """
        management = f"unix:{self.run_dir / (bridge or self.bridge)}.mgmt"
        argv = ["ovs-ofctl", "-O", "OpenFlow15", command, management, *arguments]
        return self.runner.run(argv, stdin=stdin, env=self.environment).stdout

    def ask(self, command: str, *params: str) -> str:
        """ovs-vswitchd's answer to a command that ovs-appctl would send."""
        return rpc.call(self.runner, self.daemon, command, *params)
