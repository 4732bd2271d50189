# SPDX-License-Identifier: Apache-2.0
"""Write the recordings of the papers' servers: `python -m tests.hosts.record`.

They are the output of `wirespeed inspect --record` on those servers. A test compares them with
papers.py.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.hosts.papers import RECORDED
from tests.hosts.server import Server, runner
from wirespeed.host.collect import collect
from wirespeed.remote.recorder import Recorder
from wirespeed.remote.recording import save

HERE = Path(__file__).parent


def record(server: Server, folder: Path) -> None:
    """Inspect the described server and save the recording in a new folder."""
    recorder = Recorder(runner(server))
    collect(recorder)
    save(recorder.recording, folder)


def main() -> None:
    for name, server in RECORDED.items():
        shutil.rmtree(HERE / name, ignore_errors=True)
        record(server, HERE / name)


if __name__ == "__main__":
    main()
