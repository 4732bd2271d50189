# SPDX-License-Identifier: Apache-2.0
"""Record, list, mark and export the counters of hosts (`wirespeed kpi`)."""

from __future__ import annotations

import json as json_text
import time
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Annotated

import typer
from rich.table import Table

from wirespeed.cli.console import print_json, print_line, results_console
from wirespeed.cli.input.amounts import duration_s, size_octets
from wirespeed.cli.input.options import JsonOption, StoreOption
from wirespeed.cli.typed import typed
from wirespeed.cli.verbs.kpi_recorder import read_clock
from wirespeed.live.recording_stalls import sentence, stalls_of
from wirespeed.model.errors import BadInput
from wirespeed.model.result.recording import Mark, MarkKind
from wirespeed.model.words import counted
from wirespeed.remote.local import LocalRunner
from wirespeed.store import recordings
from wirespeed.store.recordings import RecordingSummary
from wirespeed.store.store import Store, open_to_read

_TEXT_MAX = 500
# A recorder stores each second; its store may be away for a while.
_WRITTEN_NS = 60_000_000_000
# Stalls that are printed; --json has all.
_STALLS_MOST = 20

RecordingArgument = Annotated[
    str,
    typer.Argument(
        metavar="RECORDING", help='Id of a recording (`wirespeed kpi list`), or "latest".'
    ),
]


def show_list(*, json: JsonOption = False, store: StoreOption = None) -> None:
    """List the recordings in the store, newest first."""
    with open_to_read(store) as opened:
        found = recordings.list_recordings(opened)
        where = opened.url
    if json:
        print_json(json_text.dumps([asdict(each) for each in found], indent=2))
    elif found:
        _print_list(found)
    else:
        print_line(
            f"No recording yet in {where}. Make one: "
            f"`{typed('kpi', 'record', **{'for': '10s'}, store=store)}`."
        )


def show(
    recording: RecordingArgument = recordings.LATEST,
    *,
    json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Show a recording: its sources with their series, its marks, and stalls of polling threads."""
    with open_to_read(store) as opened:
        found = recordings.recording_of(opened, recording)
        series = recordings.series_of(opened, found.id)
        marks = recordings.marks_of(opened, found.id)
        stalls = stalls_of(opened, found.id)
    if json:
        document = {
            **asdict(found),
            "series_list": [asdict(each) for each in series],
            "marks": [asdict(each) for each in marks],
            "stalls": [asdict(each) for each in stalls],
        }
        print_json(json_text.dumps(document, indent=2))
        return
    print_line(_headline(found))
    sources = sorted({each.source for each in series})
    for source in sources:
        number = sum(each.source == source for each in series)
        print_line(f"  {source}: {number} series")
    events = [(mark.at_ns, f"{mark.kind}: {mark.text}") for mark in marks]
    events += [(each.stall.begin_ns, f"stall: {sentence(each)}") for each in stalls[:_STALLS_MOST]]
    for at_ns, text in sorted(events, key=lambda event: event[0]):
        print_line(f"  {(at_ns - found.clock.monotonic_ns) / 1e9:+.3f} s  {text}")
    if len(stalls) > _STALLS_MOST:
        shorter = counted(len(stalls) - _STALLS_MOST, "shorter stall")
        print_line(f"  {shorter} of polling threads: --json lists them")


def mark(
    text: Annotated[str, typer.Argument(metavar="TEXT", help='E.g. "changed txqs".')],
    recording: RecordingArgument = recordings.LATEST,
    *,
    store: StoreOption = None,
) -> None:
    """Mark this moment in a recording that is being written on this machine, or any other one."""
    if not text.strip() or len(text) > _TEXT_MAX:
        raise BadInput(
            f"mark of {len(text.strip())} characters: not within 1 and {_TEXT_MAX}",
            'Give a text, e.g. "changed txqs".',
        )
    with Store(store, exists=True) as opened:
        found = recordings.recording_of(opened, recording)
        recordings.mark(opened, found.id, Mark(_now(found), MarkKind.USER, text))
    print_line(f"Marked in {found.id}: {text}")


def clean(
    *,
    keep: Annotated[
        str | None,
        typer.Option("--keep", metavar="TIME", help="Delete recordings older than this, e.g. 30d."),
    ] = None,
    size: Annotated[
        str | None,
        typer.Option(
            "--size", metavar="SIZE", help="Delete the oldest beyond this size, e.g. 20G."
        ),
    ] = None,
    recording: Annotated[
        str | None,
        typer.Option("--recording", metavar="RECORDING", help="Delete this recording alone."),
    ] = None,
    store: StoreOption = None,
) -> None:
    """Delete recordings by age, by total size, or by id. Runs stay.

    A recording that is being written is deleted by its id only.
    """
    if keep is None and size is None and recording is None:
        raise BadInput(
            "kpi clean: nothing is named to delete", "Give --keep, --size or --recording."
        )
    if recording is not None and (keep is not None or size is not None):
        raise BadInput(
            "kpi clean: --recording goes with neither --keep nor --size",
            "Give one or the other.",
        )
    oldest_s = None if keep is None else duration_s("--keep", keep)
    most = None if size is None else size_octets("--size", size)
    with Store(store, exists=True) as opened:
        if recording is not None:
            chosen = [recordings.recording_of(opened, recording).id]
        else:
            found = recordings.list_recordings(opened)
            chosen = [each.id for each in _beyond(found, oldest_s, most)]
        for each in chosen:
            recordings.delete_recording(opened, each)
    print_line(f"{counted(len(chosen), 'recording')} deleted.")


def _beyond(
    found: Sequence[RecordingSummary], oldest_s: float | None, most: float | None
) -> list[RecordingSummary]:
    """Return the recordings that are too old, or beyond the size; found: newest first."""
    now, total, chosen = datetime.now(UTC), 0, []
    for each in found:
        total += each.octets
        age_s = (now - datetime.fromisoformat(each.started_at)).total_seconds()
        old = oldest_s is not None and age_s > oldest_s
        if (old or (most is not None and total > most)) and not _is_written(each):
            chosen.append(each)
    return chosen


def _is_written(found: RecordingSummary) -> bool:
    """Return whether a recorder, which a kill may have ended, stored reads a moment ago."""
    last_ns = found.clock.realtime_of(found.end_ns if found.reads else found.clock.monotonic_ns)
    return found.finished_at is None and time.time_ns() - last_ns < _WRITTEN_NS


def _now(found: RecordingSummary) -> int:
    """Return this moment by the recording's clock: by the wall clock on another boot or machine."""
    here = read_clock(LocalRunner())
    if here.boot == found.clock.boot:
        return here.monotonic_ns
    return time.time_ns() - found.clock.realtime_ns + found.clock.monotonic_ns


def _print_list(found: Sequence[RecordingSummary]) -> None:
    table = Table("id", "host", "begun", "length", "series", "samples", "octets a sample", "run")
    for each in found:
        length_s = max(0, each.end_ns - each.begin_ns) / 1e9
        ratio = f"{each.octets / each.samples:.2f}" if each.samples else "-"
        table.add_row(
            each.id, each.host, each.started_at[:19].replace("T", " "), f"{length_s:.1f} s",
            str(each.series), str(each.samples), ratio, each.run_id or "",
        )  # fmt: skip
    results_console().print(table)


def _headline(found: RecordingSummary) -> str:
    length_s = max(0, found.end_ns - found.begin_ns) / 1e9
    state = "" if found.finished_at else "; not ended, or its recorder was killed"
    return (
        f"{found.id}: {found.host}, {found.started_at}, {length_s:.1f} s, {found.rate_hz:g} Hz, "
        f"{found.series} series, {found.samples} samples in {found.octets} octets{state}"
    )
