# SPDX-License-Identifier: Apache-2.0
"""Check that the changes of several hosts are undone, each by its own journal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from pathlib import Path

import pytest

from tests.unit.bench.fake_host import FakeHost
from tests.unit.bench.test_journal import journals
from wirespeed.bench.host.changes import DirectoryMade
from wirespeed.bench.host.host import Host, changing_host, tidy_up_everywhere
from wirespeed.bench.host.journal import Journal, Undone
from wirespeed.bench.host.leftovers import hosts_left
from wirespeed.bench.interface import BenchError
from wirespeed.remote.interface import HostUnreachable, Runner
from wirespeed.remote.reach import reach as reach_address


class Elsewhere(FakeHost):
    """Another host, which may be unreachable."""

    def __init__(self, name: str, files: dict[str, str], *, reachable: bool = True) -> None:
        super().__init__(files)
        self.host, self.reachable = name, reachable

    @property
    def name(self) -> str:
        return self.host

    @property
    def address(self) -> str:
        return f"ssh://{self.host}"

    def read(self, path: str) -> str:
        if not self.reachable:
            raise HostUnreachable(f"{self.host} could not be reached")
        return super().read(path)


@contextmanager
def changing(hosts: Iterable[Elsewhere], state_dir: Path) -> Iterator[list[Host]]:
    with ExitStack() as stack:
        yield [stack.enter_context(changing_host(host, state_dir)) for host in hosts]


def two_hosts() -> dict[str, Elsewhere]:
    return {f"ssh://{name}": Elsewhere(name, {"/proc/sys/a": "1"}) for name in ("east", "west")}


def test_hosts_are_changed_and_put_back_each_by_its_own_journal(tmp_path: Path) -> None:
    east, west = two_hosts().values()
    with changing([east, west], tmp_path) as states:
        for state in states:
            state.set_sysctl("a", "0")
        assert len(journals(tmp_path)) == 2
        assert (east.files["/proc/sys/a"], west.files["/proc/sys/a"]) == ("0", "0")
    assert (east.files["/proc/sys/a"], west.files["/proc/sys/a"]) == ("1", "1")
    assert journals(tmp_path) == []


@pytest.mark.parametrize("lost", [0, 1])
def test_a_lost_host_keeps_its_journal_and_no_other_from_being_put_back(
    tmp_path: Path, lost: int
) -> None:
    hosts = two_hosts()
    both = list(hosts.values())

    def run() -> None:
        with changing(both, tmp_path) as states:
            for state in states:
                state.set_sysctl("a", "0")
            both[lost].reachable = False

    with pytest.raises(BenchError, match=f"the changes on ssh://{both[lost].name} are not undone"):
        run()
    assert both[1 - lost].files["/proc/sys/a"] == "1"
    assert hosts_left(tmp_path) == (both[lost].address,)

    def reach(address: str) -> AbstractContextManager[Runner]:
        return nullcontext(hosts[address])

    [failed] = tidy_up_everywhere(reach, tmp_path).failed
    assert failed.endswith(f"{both[lost].name} could not be reached")
    assert len(journals(tmp_path)) == 1
    both[lost].reachable = True
    done = f"{both[lost].name}: set /proc/sys/a back to 1"
    assert tidy_up_everywhere(reach, tmp_path) == Undone((done,))
    assert journals(tmp_path) == []


def test_the_error_that_ended_the_run_outranks_a_failed_undo(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    [host, _] = two_hosts().values()

    def run() -> None:
        with changing_host(host, tmp_path) as state:
            state.set_sysctl("a", "0")
            host.reachable = False
            raise HostUnreachable("the cause")

    with pytest.raises(HostUnreachable, match="the cause"):
        run()
    assert "the changes on ssh://east are not undone" in caplog.text


def test_an_address_that_nobody_can_reach_is_reported(tmp_path: Path) -> None:
    old = Journal.create(tmp_path, "server2")
    old.note(DirectoryMade(f"{tmp_path}/absent"))
    old._file.close()
    assert tidy_up_everywhere(reach_address, tmp_path).failed == (
        "server2 is not cleaned: 'server2' is not of the form ssh://[user@]host[:port]",
    )
