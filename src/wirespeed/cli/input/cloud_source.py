# SPDX-License-Identifier: Apache-2.0
"""Read an OpenStack cloud: one of clouds.yaml, a file or a recording."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from wirespeed.cli.output_file import write_output
from wirespeed.cloud.api import Api
from wirespeed.cloud.collect import collect
from wirespeed.cloud.file import CLOUD_FILE
from wirespeed.cloud.live import open_cloud
from wirespeed.cloud.recording import FILE, RecordedApi, RecordingApi
from wirespeed.document.text_file import read_input
from wirespeed.model.cloud import Cloud
from wirespeed.model.errors import BadInput
from wirespeed.remote.recording import make_folder

CloudOption = Annotated[
    str | None,
    typer.Option(
        "--openstack",
        metavar="CLOUD",
        help="A cloud of clouds.yaml (envvars: the OS_* variables), a CLOUD.json written by "
        "`wirespeed inspect --openstack CLOUD --json`, or the folder of a recorded one.",
    ),
]


def read_cloud(name: str, record: Path | None = None) -> Cloud:
    """Return the named cloud. Raises BadInput.

    record: folder that gets the answers of the API.
    """
    if not name:
        raise BadInput(
            "--openstack names no cloud: it is empty",
            "Name one of clouds.yaml, or envvars for the OS_* variables.",
        )
    path = Path(name)
    if name.endswith(".json"):
        if record:
            raise BadInput(f"{name} is a file: there is nothing to record", "Leave out --record.")
        return CLOUD_FILE.parse(read_input(path), name)
    # A folder may have a cloud's name without being a recording of it.
    recorded = "/" in name or (path / FILE).exists()
    api: Api = RecordedApi.open(path) if recorded else open_cloud(name)
    if record is None:
        return collect(api)
    make_folder(record)
    recording = RecordingApi(api)
    try:
        return collect(recording)
    finally:
        # Written after a failure, too: an unreadable answer is why recordings are made.
        write_output(record / FILE, recording.text(), private=True)
