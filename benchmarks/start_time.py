# SPDX-License-Identifier: Apache-2.0
"""Time `wirespeed --version`, `--help` and bash's completion of a verb.

The product promises the first two within 0.25 s, and completion within 0.15 s, which includes the
start of bash and the reading of its script. The ratio is to the promise. Python's own start is
printed next to them, with its ratio to the same.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.audit_time import median_s
from benchmarks.shared.figures import show

from wirespeed.cli.reference.completion import completions

PROMISE_S, COMPLETION_S = 0.25, 0.15
WIRESPEED = ("-m", "wirespeed.cli.main")
COMMANDS = {
    "start_python": ("-c", "pass"),
    "start_version": (*WIRESPEED, "--version"),
    "start_help": (*WIRESPEED, "--help"),
    "start_inspect_help": (*WIRESPEED, "inspect", "--help"),
}
SCRIPT = "wirespeed.bash"
COMPLETE = (
    '. "$0"; COMP_WORDS=(wirespeed insp); COMP_CWORD=1; _wirespeed; [ "$COMPREPLY" = inspect ]'
)


def start(words: Sequence[str | Path]) -> None:
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)


def main() -> None:
    for name, words in COMMANDS.items():
        took_s = median_s(lambda words=words: start((sys.executable, *words)))  # type: ignore[misc]
        show(name, took_s, "s", took_s / PROMISE_S, f"promise-{PROMISE_S}s")
    with TemporaryDirectory() as folder:
        script = Path(folder, SCRIPT)
        script.write_text(completions()[SCRIPT], encoding="utf-8")
        took_s = median_s(lambda: start(("bash", "-c", COMPLETE, script)))
    show("start_completion", took_s, "s", took_s / COMPLETION_S, f"promise-{COMPLETION_S}s")


if __name__ == "__main__":
    main()
