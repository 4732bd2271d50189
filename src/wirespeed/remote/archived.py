# SPDX-License-Identifier: Apache-2.0
"""Implement the Runner of a host that an archive describes: it answers from files in memory.

An archive has only some of a host's files: one that it lacks is unknown, not absent. Where a whole
folder is known, a file that it lacks is absent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from wirespeed.remote.file_tree import FileTree, TooLarge
from wirespeed.remote.interface import Completed, NotRecorded, RemoteError
from wirespeed.remote.recorded import RecordedRunner
from wirespeed.remote.recording import RecordedCommand, Recording


class ArchivedRunner(RecordedRunner):
    """Answers from a FileTree, and from what commands printed.

    what: the kind of file in reasons, e.g. "the sosreport".
    """

    def __init__(self, tree: FileTree, host: str, what: str) -> None:
        self._kept = Recording(host)
        super().__init__(self._kept)
        self.tree, self.what = tree, what
        self._whole: set[str] = set()

    def answer(self, argv: Sequence[str], printed: str) -> None:
        """Let the command print this and end with 0."""
        self._kept.commands.append(RecordedCommand(tuple(argv), 0, printed, ""))

    def fail(self, argv: Sequence[str], error: str) -> None:
        """Let the command print this to its standard error and end with 1."""
        self._kept.commands.append(RecordedCommand(tuple(argv), 1, "", error))

    def lacks_program(self, name: str) -> None:
        """Let the program be missing, so that its files are read instead."""
        self._kept.programs_missing.add(name)

    def is_whole(self, folder: str) -> None:
        """Let every file that the folder does not have be absent on the host."""
        self._whole.add(folder)

    def run(
        self,
        argv: Sequence[str],
        *,
        timeout_s: float = 30.0,
        stdin: str | None = None,
        env: Mapping[str, str] | None = None,
        check: bool = True,
    ) -> Completed:
        if argv[0] not in self._kept.programs_missing and not any(
            command.argv == tuple(argv) for command in self._kept.commands
        ):
            raise RemoteError(f"{self.what} has no output of `{' '.join(argv)}`")
        return super().run(argv, timeout_s=timeout_s, stdin=stdin, env=env, check=check)

    def glob(self, *patterns: str) -> tuple[str, ...]:
        """Return the archive's paths. Raises NotRecorded where it has none: they are unknown."""
        found = tuple(sorted({path for pattern in patterns for path in self.tree.glob(pattern)}))
        if not found and not all(self.is_known(pattern) for pattern in patterns):
            raise NotRecorded(f"{' and '.join(patterns)}: not in {self.what}")
        return found

    def _read(self, path: str) -> str | OSError:
        found = self.tree.find(path)
        if isinstance(found, str):
            return found
        if isinstance(found, TooLarge):
            return OSError(f"{path} is larger than what is read of {self.what}")
        if self.is_known(path):
            return FileNotFoundError(f"{self.name} had no {path}")
        return NotRecorded(f"{path} is not in {self.what}")

    def is_known(self, path: str) -> bool:
        """Return whether the path would be here if the host had it."""
        return any(path.startswith(f"{folder}/") for folder in self._whole)
