# SPDX-License-Identifier: Apache-2.0
"""Check the one-file export: it comes back equal, and a stranger's file is data with bounds."""

from __future__ import annotations

import io
import json
import os
import re
import zlib
from base64 import b64encode
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.unit.live.sample_recording import HOSTILE, MARKS, SERIES
from wirespeed.live import exported
from wirespeed.live.exported import read_file, write_file
from wirespeed.live.page import DATA_END, DATA_START
from wirespeed.live.stored import StoredRecording
from wirespeed.model.errors import BadInput
from wirespeed.store import recordings
from wirespeed.store.store import Store, open_to_read


@pytest.fixture(scope="module")
def text(stored: Path) -> str:
    return export(stored)


def export(stored: Path) -> str:
    file = io.StringIO()
    with open_to_read(str(stored)) as store:
        write_file(store, StoredRecording(store, "kpi-1").recorded(), file)
    return file.getvalue()


def read(text: str, folder: Path, name: str = "x.html") -> str:
    (folder / name).write_text(text)
    with Store(str(folder / "s.sqlite")) as store:
        return read_file(folder / name, store)


def data_of(text: str) -> dict[str, Any]:
    found = re.search(re.escape(DATA_START) + "(.*?)" + re.escape(DATA_END), text, re.DOTALL)
    assert found
    data: dict[str, Any] = json.loads(found[1])
    return data


def with_data(text: str, data: object) -> str:
    start = text.index(DATA_START) + len(DATA_START)
    end = text.index(DATA_END, start)
    return text[:start] + json.dumps(data).replace("<", "\\u003c") + text[end:]


def test_file_comes_back_equal(text: str, stored: Path, tmp_path: Path) -> None:
    recording = read(text, tmp_path)
    with open_to_read(str(stored)) as before, Store(str(tmp_path / "s.sqlite")) as after:
        found = recordings.recording_of(after, recording)
        assert found.host == f"host {HOSTILE} (x.html)"
        assert found.started_at == "2025-11-24T16:00:00.000+00:00"
        assert found.clock == recordings.recording_of(before, "kpi-1").clock
        assert recordings.series_of(after, recording) == tuple(SERIES)
        assert recordings.marks_of(after, recording) == tuple(MARKS)
        for source in {each.source for each in SERIES}:
            both = [
                list(recordings.reads_of(store, name, source))
                for store, name in ((before, "kpi-1"), (after, recording))
            ]
            for one, other in zip(*both, strict=True):
                assert one.epoch == other.epoch
                assert np.array_equal(one.begin_ns, other.begin_ns)
                assert np.array_equal(one.values, other.values)


def test_file_loads_nothing_and_escapes_names(text: str) -> None:
    assert HOSTILE not in text
    assert not re.search(r'(?:src|href)="(?!data:)', text)
    assert "default-src 'none'" in text.replace("&#x27;", "'")
    # The data end no element early: there are as many ends as begins.
    assert text.count("<script") == text.count("</script>") == 2


def changed(change: Callable[[dict[str, Any]], object]) -> Callable[[str], str]:
    def made(text: str) -> str:
        data = data_of(text)
        change(data)
        return with_data(text, data)

    return made


def bomb(data: dict[str, Any]) -> None:
    """Claim few numbers and unpack to a gigabyte."""
    data["chunks"][0]["values"] = b64encode(zlib.compress(bytes(1 << 26))).decode()


def pile(data: dict[str, Any]) -> None:
    """Put chunks at one moment, which would be merged into a chunk of any size."""
    data["chunks"] += [data["chunks"][0]] * 3


BAD: dict[str, tuple[Callable[[str], str], str]] = {
    "no data": (lambda text: text.replace(DATA_START, "<script>"), "no element with data"),
    "no JSON": (lambda text: text.replace(DATA_START, DATA_START + "{"), ""),
    "older": (changed(lambda d: d.update(version=0)), "its version is 0, of an unknown wirespeed"),
    "newer": (changed(lambda d: d.update(version=2)), "its version is 2, of a newer wirespeed"),
    "bomb": (changed(bomb), "has another size"),
    "pile": (changed(pile), "the chunks of a source do not ascend"),
    "many reads": (changed(lambda d: d["chunks"][0].update(reads=2**40)), "more than a recording"),
    "no reads": (changed(lambda d: d["chunks"][0].update(reads=0)), "reads"),
    "source": (changed(lambda d: d["chunks"][0].update(source=99)), ""),
    "negative": (changed(lambda d: d["chunks"][0].update(source=-1)), "source"),
    "clock": (changed(lambda d: d.update(base_ns="9" * 19)), "too far in the future"),
    "no clock": (changed(lambda d: d.update(base_ns="1e9")), "base_ns"),
    "mark": (changed(lambda d: d["marks"].append([2**70, "user", "x"])), ""),
    "mark kind": (changed(lambda d: d["marks"].append([1, "x", "x"])), "kind"),
    "long text": (changed(lambda d: d["marks"].append([1, "user", "x" * 501])), "text"),
    "series": (changed(lambda d: d["series"].append([0])), ""),
    "fewer series": (changed(lambda d: d["series"].clear()), "not in the list"),
    "base64": (changed(lambda d: d["chunks"][0].update(values="?")), ""),
    "series of a chunk": (
        changed(lambda d: d["chunks"][0].update(series=d["chunks"][0]["moments"])), "",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_bad_file_is_one_sentence(text: str, tmp_path: Path, name: str) -> None:
    change, said = BAD[name]
    with pytest.raises(BadInput, match=r"x\.html") as refused:
        read(change(text), tmp_path)
    assert "no recording of" in refused.value.what
    assert said in refused.value.what
    assert len(refused.value.what) < 500


def test_pipe_is_refused_without_waiting_for_a_writer(tmp_path: Path) -> None:
    pipe = tmp_path / "x.html"
    os.mkfifo(pipe)
    with Store(str(tmp_path / "s.sqlite")) as store, pytest.raises(BadInput, match="is a pipe"):
        read_file(pipe, store)


def test_recording_beyond_the_size_of_a_file_is_refused(
    stored: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exported, "FILE_MAX", 1000)
    with pytest.raises(BadInput, match="one file has at most"):
        export(stored)
