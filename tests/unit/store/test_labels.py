# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.fake_rig import FakeTcpBench
from tests.support.sample import Nobody
from tests.unit.store.test_store import ORIGIN, searched, start
from wirespeed.model.errors import BadInput
from wirespeed.model.study.tcp import Tcp
from wirespeed.store.errors import NoSuchRun
from wirespeed.store.headlines import headline
from wirespeed.store.labels import note_run, rename_run, tag_run, untag_run
from wirespeed.store.read import list_runs, read_run
from wirespeed.store.run_writer import RunWriter
from wirespeed.store.store import Store
from wirespeed.study.load import load_study
from wirespeed.study.tcp import measure_tcp


@pytest.fixture
def store(store_name: str) -> Iterator[Store]:
    with Store(store_name) as opened:
        yield opened


def test_rename_run_is_found_by_name_and_id(store: Store) -> None:
    run_id = start(store)[0].run_id
    assert rename_run(store, run_id, f"of-{run_id}") == run_id
    for named in (run_id, f"of-{run_id}"):
        assert read_run(store, named).id == run_id
    assert list_runs(store)[0].name == f"of-{run_id}"
    assert rename_run(store, f"of-{run_id}", run_id) == run_id
    assert list_runs(store)[0].name is None
    with pytest.raises(NoSuchRun):
        read_run(store, f"of-{run_id}")


def test_rename_run_taken_name_is_refused(store: Store) -> None:
    one, other = (start(store)[0].run_id for _ in range(2))
    rename_run(store, one, f"name-of-{one}")
    for taken in (f"name-of-{one}", one):
        with pytest.raises(BadInput, match="has it"):
            rename_run(store, other, taken)


@pytest.mark.parametrize("name", ["", "latest", "a b", "-x", "x\x1b", "x" * 64])
def test_rename_run_wrong_name_is_refused(store: Store, name: str) -> None:
    run_id = start(store)[0].run_id
    with pytest.raises(BadInput):
        rename_run(store, run_id, name)


def test_next_run_does_not_get_an_id_that_is_a_name(store: Store) -> None:
    writer = start(store)[0]
    number = int(writer.run_id.rpartition("-")[2])
    name = f"wire-{number + 1}"
    rename_run(store, writer.run_id, name)
    assert RunWriter.start(store, load_study("wire"), ORIGIN).run_id == f"wire-{number + 2}"


def test_tag_run_keeps_each_tag_once(store: Store) -> None:
    run_id = start(store)[0].run_id
    assert tag_run(store, run_id, "new") == ("new",)
    assert tag_run(store, run_id, "lab") == tag_run(store, run_id, "new") == ("lab", "new")
    assert list_runs(store)[0].tags == ("lab", "new")
    assert untag_run(store, run_id, "new") == ("lab",)
    with pytest.raises(BadInput, match="no tag 'new'"):
        untag_run(store, run_id, "new")


def test_note_run_replaces_and_clears(store: Store) -> None:
    run_id = start(store)[0].run_id
    note_run(store, run_id, "C-states off")
    assert list_runs(store)[0].note == "C-states off"
    note_run(store, run_id, "")
    assert list_runs(store)[0].note is None
    for text in ("two\nlines", "x" * 1001, "\x1b[2J"):
        with pytest.raises(BadInput):
            note_run(store, run_id, text)


def test_labels_unknown_run_is_refused(store: Store) -> None:
    start(store)
    for change in (rename_run, tag_run, untag_run, note_run):
        with pytest.raises(NoSuchRun):
            change(store, "no-such-run", "word")


def test_headline_is_the_ndr_of_the_run(store: Store) -> None:
    writer, point = start(store)
    assert headline(store, writer.run_id) is None
    result, _ = searched()
    writer.complete_point(point, result, ())
    found = headline(store, writer.run_id)
    assert found is not None
    assert result.ndr is not None
    assert result.ndr.lower is not None
    assert found.value == pytest.approx(result.ndr.lower.load_fps)
    assert (found.figure, found.unit, found.at_least) == ("NDR", "frames/s", False)
    assert found.grade == result.grade


def test_headline_of_tcp_is_its_rate(store: Store) -> None:
    writer, point = start(store)
    bench = FakeTcpBench(Tcp(seconds=1, repeats=1))
    result = measure_tcp(bench, bench.tcp, Nobody())
    writer.complete_point(point, result, ())
    found = headline(store, writer.run_id)
    assert found is not None
    assert result.tcp is not None
    assert found.value == pytest.approx(result.tcp.total_bps)
    assert (found.figure, found.unit, found.at_least) == ("TCP", "bit/s", False)
