# SPDX-License-Identifier: Apache-2.0
"""Time `wirespeed --version` and `--help`.

The product promises --version within 0.25 s; the ratio is to that promise. Python's own start is
printed next to them, with its ratio to the same.
"""

from __future__ import annotations

import subprocess
import sys

from benchmarks.audit_time import median_s
from benchmarks.figures import show

PROMISE_S = 0.25
WIRESPEED = ("-m", "wirespeed.cli.main")
COMMANDS = {
    "start_python": ("-c", "pass"),
    "start_version": (*WIRESPEED, "--version"),
    "start_help": (*WIRESPEED, "--help"),
    "start_inspect_help": (*WIRESPEED, "inspect", "--help"),
}


def start(words: tuple[str, ...]) -> None:
    subprocess.run([sys.executable, *words], check=True, stdout=subprocess.DEVNULL)


def main() -> None:
    for name, words in COMMANDS.items():
        took_s = median_s(lambda words=words: start(words))  # type: ignore[misc]
        show(name, took_s, "s", took_s / PROMISE_S, "promise-0.25s")


if __name__ == "__main__":
    main()
