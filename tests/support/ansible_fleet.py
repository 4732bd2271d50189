# SPDX-License-Identifier: Apache-2.0
"""Present recorded hosts as an Ansible fleet, with the collection as a user installs it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
HERE = Path(__file__).parent

# On a target: the program reads the recording that the connection names.
_CONTROLLER = f"""#!/bin/sh
PYTHONPATH={ROOT / "src"} exec {sys.executable} -m wirespeed.cli.main "$@"
"""
_TARGET = _CONTROLLER.replace(
    "PYTHONPATH",
    '[ "$1 $2" = "fleet snapshot" ] && set -- "$@" --recorded "$WIRESPEED_RECORDED"\nPYTHONPATH',
)


def install_collection(folder: Path) -> Path:
    """Build the collection and install it from its archive without a network; returns where."""
    galaxy = str(BIN / "ansible-galaxy")
    folder.mkdir(exist_ok=True)
    source = folder / "source"
    shutil.copytree(ROOT / "ansible", source)
    env = {**os.environ, "HOME": str(folder), "https_proxy": "http://127.0.0.1:9"}
    build = [galaxy, "collection", "build", str(source), "--output-path", str(folder)]
    subprocess.run(build, check=True, capture_output=True, env=env)
    (archive,) = folder.glob("wirespeed-nfv-*.tar.gz")
    installed = folder / "collections"
    subprocess.run(
        [galaxy, "collection", "install", str(archive), "--offline", "-p", str(installed)],
        check=True, capture_output=True, env=env,
    )  # fmt: skip
    return installed


@dataclass(frozen=True)
class Fleet:
    """Hosts behind the connection plugin of this folder, each with a directory of its own."""

    folder: Path
    collections: Path
    store: str
    recordings: Mapping[str, str]
    variables: Mapping[str, Mapping[str, object]] = field(default_factory=dict)

    @property
    def fetched(self) -> Path:
        return self.folder / "fetched"

    def environment(self) -> dict[str, str]:
        return {
            **os.environ,
            "HOME": str(self.folder),
            "ANSIBLE_COLLECTIONS_PATH": str(self.collections),
            "ANSIBLE_CONNECTION_PLUGINS": str(HERE / "ansible_connection"),
            "ANSIBLE_PIPELINING": "1",
            "ANSIBLE_RETRY_FILES_ENABLED": "0",
            "ANSIBLE_NOCOLOR": "1",
            "WIRESPEED_STORE": self.store,
        }

    def inventory(self) -> Path:
        hosts = {
            name: {
                "ansible_connection": "recorded",
                "ansible_python_interpreter": sys.executable,
                "recorded_folder": folder,
                "wirespeed_executable": str(program(self.folder, "target")),
                "wirespeed_results": str(self.folder / "hosts" / name),
                **self.variables.get(name, {}),
            }
            for name, folder in self.recordings.items()
        }
        path = self.folder / "inventory.json"
        path.write_text(json.dumps({"all": {"hosts": hosts}}))
        return path

    def command(self, playbook: str, *arguments: str) -> list[str]:
        variables = {
            "wirespeed_fetched": str(self.fetched),
            "wirespeed_controller": str(program(self.folder, "controller")),
        }
        return [
            str(BIN / "ansible-playbook"), "-i", str(self.inventory()), playbook,
            "-e", json.dumps(variables), *arguments,
        ]  # fmt: skip

    def play(self, playbook: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.command(playbook, *arguments), env=self.environment(), cwd=self.folder,
            capture_output=True, text=True, check=False,
        )  # fmt: skip


def program(folder: Path, name: str) -> Path:
    """wirespeed of this source tree: on the controller, or on a target, where it reads a recording
    instead of this machine."""
    path = folder / name
    if not path.exists():
        path.write_text({"controller": _CONTROLLER, "target": _TARGET}[name])
        path.chmod(0o755)
    return path
