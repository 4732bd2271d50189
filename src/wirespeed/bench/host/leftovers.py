# SPDX-License-Identifier: Apache-2.0
"""Find the journals of runs that ended without cleaning up."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from wirespeed.bench.host.journal import Journal
from wirespeed.bench.host.journal_file import journals, not_opened


def leftovers(state_dir: Path, host: str | None = None) -> Iterator[Journal]:
    """Yield the journals of runs that ended without cleaning up, locked.

    host: only journals of this address.
    """
    for path in journals(state_dir):
        journal = None if not_opened(path) else Journal.adopt(path)
        if journal is None:
            continue
        if host in (None, journal.host):
            yield journal
        else:
            journal.close()


def drop_leftovers(state_dir: Path, host: str) -> None:
    """Discard the journals of a host that no longer exists."""
    for journal in leftovers(state_dir, host):
        journal.forget_all()
        journal.unread = ()
        journal.close()


def hosts_left(state_dir: Path) -> tuple[str, ...]:
    """Return the addresses of hosts on which such runs left changes."""
    found = set()
    for journal in leftovers(state_dir):
        if journal.standing or (journal.unread and journal.host):
            found.add(journal.host)
        journal.close()
    return tuple(sorted(found))


def nobodys(state_dir: Path) -> tuple[str, ...]:
    """Return the problems of leftover journals that do not name their host."""
    found = [f"{path}: {why}. Run the command as the user whose file it is, or remove it"
             for path in journals(state_dir) if (why := not_opened(path))]  # fmt: skip
    for journal in leftovers(state_dir, ""):
        found += [f"{journal.path}: {sentence}. Remove the file once nothing of that run is left"
                  for sentence in journal.unread]  # fmt: skip
        journal.close()
    return tuple(found)
