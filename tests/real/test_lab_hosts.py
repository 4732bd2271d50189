# SPDX-License-Identifier: Apache-2.0
"""Test that labs of test hosts which run at the same time do not share a network."""

from __future__ import annotations

import subprocess
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from threading import Barrier

import pytest

from tests.support.lab_hosts import lab
from tests.support.veth_network import veth_network


@pytest.fixture
def namespaces() -> Iterator[list[str]]:
    names = [f"wl{uuid.uuid4().hex}" for _ in range(6)]
    try:
        for name in names:
            subprocess.run(["ip", "netns", "add", name], check=True)
        yield names
    finally:
        for name in names:
            subprocess.run(["ip", "netns", "delete", name], check=False)


def test_lab_random_numbers_agree_networks_differ(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The first five digits of these are 00200, 00400, ...: 9 bits of them agree.
    numbers = count(1)
    monkeypatch.setattr(uuid, "uuid4", lambda: uuid.UUID(int=next(numbers) << 117))
    folders = [tmp_path / "one", tmp_path / "other"]
    with ExitStack() as stack:
        for folder in folders:
            folder.mkdir()
        one, other = (stack.enter_context(lab(folder, ["box"])) for folder in folders)
        assert one["box"].url != other["box"].url
        for made in (one, other):
            with made.runner("box") as runner:
                said = runner.run(["ip", "netns", "identify"]).stdout.strip()
            assert said == made["box"].namespace


def test_veth_network_claimed_at_once_networks_differ(namespaces: list[str]) -> None:
    ready = Barrier(len(namespaces))

    def claimed(stack: ExitStack, namespace: str) -> str:
        ready.wait(60)
        return stack.enter_context(veth_network(namespace, "east"))

    with ExitStack() as stack, ThreadPoolExecutor(len(namespaces)) as pool:
        networks = list(pool.map(lambda name: claimed(stack, name), namespaces))
    assert len(set(networks)) == len(namespaces)


def test_veth_network_ended_leaves_no_interface(namespaces: list[str]) -> None:
    namespace = namespaces[0]
    with veth_network(namespace, "east"):
        assert "east" in links(namespace)
    assert "east" not in links(namespace)


def test_veth_network_unknown_namespace_raises() -> None:
    with pytest.raises(RuntimeError, match="east of nowhere: "), veth_network("nowhere", "east"):
        pass


def links(namespace: str) -> str:
    words = ["ip", "-n", namespace, "-brief", "link"]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout
