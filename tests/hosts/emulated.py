# SPDX-License-Identifier: Apache-2.0
"""Record a node of the virtual testbed: `python -m tests.hosts.emulated` while it is up.

Unlike the papers' servers, it is not described: these are the files of a running kernel, with 4 VFs
on the first NIC.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from wirespeed.host.collect import collect
from wirespeed.lab.lab import NAMES
from wirespeed.lab.machine import CABLES, port_address
from wirespeed.remote.interface import Runner
from wirespeed.remote.reach import reach
from wirespeed.remote.recorder import Recorder
from wirespeed.remote.recording import save

EMULATED = "lab-two-sockets"
VFS = 4


def record(runner: Runner, folder: Path) -> None:
    recorder = Recorder(runner)
    collect(recorder)
    save(recorder.recording, folder)


def main() -> None:
    folder = Path(__file__).parent / EMULATED
    number = f"/sys/bus/pci/devices/{port_address(CABLES[0])}/sriov_numvfs"
    with reach(f"ssh://{NAMES[0]}") as runner:
        runner.write(number, f"{VFS}\n")
        try:
            shutil.rmtree(folder, ignore_errors=True)
            record(runner, folder)
        finally:
            runner.write(number, "0\n")


if __name__ == "__main__":
    main()
