# SPDX-License-Identifier: Apache-2.0
"""Check that real frames pass where every user-named directory has a path of 300 octets."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.effort import cases
from tests.support.real_bench import conserving_trials, opened, point
from wirespeed.model.study.spec import Frames, Sut, Vnf, Vswitch
from wirespeed.remote.socket_paths import SOCKET_BASE_MAX

LOAD_FPS, DURATION_S = 20_000.0, 0.2
PATHS = {
    "p2p": point("p2p"),
    "pvp": replace(point("pvp"), sut=Sut(Vswitch(rx_queues=2), Vnf(placement="process"))),
    "pvp, testpmd": point("pvp", vnf=Vnf("testpmd")),
}
# pvp has the sockets of p2p, too. The two directories share what shortens a path.
DEEP = cases(PATHS, "p2p", "pvp, testpmd")
LONGEST = cases(PATHS, "p2p", "pvp")


@pytest.fixture
def long_directory(tmp_path: Path) -> Path:
    """Return a directory whose path has 300 octets."""
    left = 300 - len(str(tmp_path)) - 2
    directory = tmp_path / ("a" * (left // 2)) / ("b" * (left - left // 2))
    directory.mkdir(parents=True)
    assert len(str(directory)) == 300
    return directory


@pytest.fixture
def longest_base() -> Iterator[Path]:
    """Yield a directory with the longest path that a directory for sockets may have."""
    with tempfile.TemporaryDirectory(prefix="ws-", dir="/tmp") as directory:
        base = Path(directory) / ("b" * (SOCKET_BASE_MAX - len(directory) - 1))
        base.mkdir()
        yield base


@pytest.mark.parametrize("spec", DEEP.values(), ids=DEEP.keys())
def test_bench_run_directory_of_300_octets_carries_frames(
    spec: Frames, long_directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(long_directory))
    monkeypatch.setenv("TMPDIR", str(long_directory))
    with opened(spec, long_directory / "logs") as bench:
        conserving_trials(bench, LOAD_FPS, DURATION_S)


@pytest.mark.parametrize("spec", LONGEST.values(), ids=LONGEST.keys())
def test_bench_longest_run_directory_carries_frames(
    spec: Frames, longest_base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = longest_base
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(base))
    with opened(spec, tmp_path / "logs") as bench:
        [run] = base.iterdir()
        assert any(path.is_socket() for path in run.iterdir())
        conserving_trials(bench, LOAD_FPS, DURATION_S)
    assert list(base.iterdir()) == []
