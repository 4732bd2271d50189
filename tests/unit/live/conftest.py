# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.chromium import Page, chromium
from tests.unit.live.sample_recording import make
from wirespeed.live.server import LiveServer
from wirespeed.live.stored import StoredRecording
from wirespeed.store.store import Store, open_to_read

TOKEN = "a" * 24


@contextmanager
def served(
    store: Path, *ids: str, address: str = "127.0.0.1", port: int = 0
) -> Iterator[LiveServer]:
    """Serve recordings of a store while the block runs."""
    with open_to_read(str(store)) as opened:
        recordings = [StoredRecording(opened, each) for each in ids]
        server = LiveServer(address, port, TOKEN, recordings, " and ".join(ids))
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server
        finally:
            server.end()
            thread.join()


@pytest.fixture(scope="session")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a store with the sample recording, twice."""
    path = tmp_path_factory.mktemp("live") / "s.sqlite"
    with Store(str(path)) as store:
        make(store)
        make(store)
    return path


@pytest.fixture(scope="session")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """Return one tab of a browser for all tests."""
    if shutil.which("chromium") is None:
        pytest.skip("chromium is not installed")
    with chromium(tmp_path_factory.mktemp("profile")) as opened:
        opened.resize(1280, 900)
        yield opened
