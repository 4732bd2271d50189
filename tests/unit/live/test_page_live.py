# SPDX-License-Identifier: Apache-2.0
"""Test that the page follows a recording that goes on, also over a kill of its server."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

from tests.support.chromium import Page
from tests.support.ports import reserved_port
from tests.unit.live.conftest import served
from tests.unit.live.sample_recording import BASE, S, last_read, make, second
from tests.unit.live.test_page import opened, values
from wirespeed.model.result.recording import Mark, MarkKind
from wirespeed.store.recordings import reads_of
from wirespeed.store.store import Store

LIVE = (sys.executable, "-m", "wirespeed.cli.main", "live")


def start(store: Path, home: Path, listen: str) -> tuple[subprocess.Popen[str], str]:
    process = subprocess.Popen(
        [*LIVE, "--store", str(store), "--listen", listen], stderr=subprocess.PIPE, text=True,
        env={**os.environ, "XDG_DATA_HOME": str(home)},
    )  # fmt: skip
    assert process.stderr is not None
    line = process.stderr.readline()
    found = re.search(r"http://\S+", line)
    assert found, line
    return process, found[0]


def test_page_goes_on_after_kill_9_of_its_server_without_gap_or_double(
    page: Page, tmp_path: Path
) -> None:
    path = tmp_path / "s.sqlite"
    with Store(str(path)) as store:
        writer = make(store, finished=False, until=2)
        first, url = start(path, tmp_path, f"127.0.0.1:{reserved_port()}")
        try:
            opened(page, url)
            page.wait("!byId('live').hidden", "a recording that is followed")
            page.click("#live")
            for number in range(2, 6):
                writer.add([], second(number), [])
            page.wait("page.sources[0].about.end > 5.9e9", "new reads")
        finally:
            first.kill()
            first.communicate()
        writer.add([], second(6), [])
        page.wait("!byId('problem').hidden", "a sentence about the server")
        again, same = start(path, tmp_path, f"127.0.0.1:{url.split(':')[2].split('/')[0]}")
        try:
            assert same == url
            writer.add([], second(7), [Mark(BASE + 7 * S, MarkKind.USER, "seen")])
            page.wait("page.sources[0].about.end > 7.9e9", "the reads after the kill")
            page.wait("byId('problem').hidden", "the end of the trouble")
            page.wait("page.sources[0].about.marks.length === 5", "the new mark")
            begins = page.run("""[0, 1, 2].map((source) => page.sources[0].samples.of(source)
              .flatMap((piece) => [...piece.begin]))""")
            shown = values(page, [n * S // 4 for n in range(8, 32)])
        finally:
            again.send_signal(signal.SIGTERM)
            _, said = again.communicate(timeout=60)
        assert again.returncode == 143, said
        assert page.run("page.player.following") is True
        for name, found in zip(("cpu", "ovs-ports ovs", "threads"), begins, strict=True):
            stored_begins = [
                at - BASE for reads in reads_of(store, writer.id, name) for at in reads.begin_ns
            ]
            followed = [at for at in stored_begins if at >= 2 * S]
            assert [at for at in found if at >= 2 * S] == followed
        for n, found in zip(range(8, 32), shown, strict=True):
            for number, each in enumerate(found):
                wanted = last_read(number, n * S // 4)
                assert wanted
                assert int(each[0]) == wanted[1]


def test_live_values_equal_replayed_ones(page: Page, tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    moments = [n * S // 3 for n in range(10, 24)]
    with Store(str(path)) as store:
        writer = make(store, finished=False, until=3)
        with served(path, writer.id) as server:
            opened(page, server.url)
            for number in range(3, 9):
                writer.add([], second(number), [])
            page.wait("page.sources[0].about.end > 8.9e9", "new reads")
            live = page.run(f"""{json.dumps(moments)}.map((t) => {{
              const {{ samples, about }} = page.sources[0];
              return about.series.map((_, number) => {{
                const found = samples.value(about, number, t);
                return found && [String(found.raw), found.read, found.shown];
              }});
            }})""")
            writer.finish()
            opened(page, server.url)
            assert values(page, moments) == live
