# SPDX-License-Identifier: Apache-2.0
"""Run a private MariaDB: no network, no durability, a socket for its owner only."""

from __future__ import annotations

import os
from pathlib import Path

from tests.cloud.processes import Processes, Program
from tests.cloud.site import Site
from tests.support.waiting import listens


def install(site: Site, processes: Processes) -> None:
    """Create the system tables of an empty data directory."""
    plain = ("--auth-root-authentication-method=normal", "--skip-test-db")
    processes.run(Program("mariadb-install-db", ("mariadb-install-db", *_own(site), *plain)))


def start(site: Site, processes: Processes) -> None:
    # With MariaDB's own isolation hosts that record their PCI devices at the same time lock gaps of
    # each other, and Nova records those of a host that lost only at its next report.
    processes.start(
        Program(
            "mariadb",
            ("/usr/sbin/mariadbd", *_own(site), "--skip-networking", f"--socket={site.socket}",
             f"--pid-file={site.root}/mariadb.pid", "--skip-log-bin", "--performance-schema=OFF",
             "--innodb-flush-method=nosync", "--innodb-flush-log-at-trx-commit=0",
             "--innodb-buffer-pool-size=96M", "--innodb-log-file-size=16M",
             "--transaction-isolation=READ-COMMITTED", "--max-connections=500",
             "--character-set-server=utf8mb3"),
        )
    )  # fmt: skip
    processes.wait("MariaDB's socket", lambda: listens(site.socket))


def execute(site: Site, processes: Processes, text: str) -> str:
    """Execute statements; return a line per row, columns separated by tabs."""
    argv = ("mariadb", "--no-defaults", f"--socket={site.socket}", "--user=root", "--batch",
            "--skip-column-names")  # fmt: skip
    return processes.run(Program("mariadb-client", argv), text)


def shut_down(site: Site, processes: Processes) -> None:
    """Shut it down cleanly, so that its files need no recovery."""
    execute(site, processes, "SET GLOBAL innodb_fast_shutdown = 0; SHUTDOWN;")
    processes.ended("mariadb")


def data(site: Site) -> Path:
    return site.root / "mariadb"


def _own(site: Site) -> tuple[str, ...]:
    options = ("--no-defaults", f"--datadir={data(site)}")
    # As root it starts only with this option.
    return (*options, "--user=root") if os.geteuid() == 0 else options
