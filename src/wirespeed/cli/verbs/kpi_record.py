# SPDX-License-Identifier: Apache-2.0
"""wirespeed kpi record: keep a host's counters."""

from __future__ import annotations

import os
import select
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Annotated

import typer

from wirespeed.cli.console import print_line
from wirespeed.cli.input.amounts import duration_s
from wirespeed.cli.input.options import StoreOption
from wirespeed.cli.typed import typed
from wirespeed.cli.verbs.kpi_recorder import HostRecorder
from wirespeed.kpi.collectors.registry import collectors
from wirespeed.kpi.pace import checked_rate
from wirespeed.model.cpuset import parse_list
from wirespeed.model.input.bounded import load_json
from wirespeed.model.result.recording import Mark, MarkKind
from wirespeed.remote.interface import LOCALHOST
from wirespeed.store.store import Store

_WAKE_S = 0.25
# A host may never answer.
_FIRST_READ_S = 30.0
# Line for the run that waits for the first read.
_READY = "recording"

CollectorOption = Annotated[
    list[str] | None,
    typer.Option(
        "--collector", metavar="NAME", help="Read this collector alone. Repeatable. Default: all."
    ),
]


def record(
    *,
    host: Annotated[
        list[str] | None,
        typer.Option(
            "--host",
            metavar="HOST",
            help="ssh://HOST or ssh://USER@HOST:PORT. Repeatable. Default: this machine.",
        ),
    ] = None,
    for_: Annotated[
        str | None,
        typer.Option(
            "--for", metavar="TIME", help="End after this time, e.g. 10m. Default: at Ctrl-C."
        ),
    ] = None,
    rate: Annotated[
        float,
        typer.Option("--rate", metavar="HZ", help="Reads a second of each collector, 1 to 50."),
    ] = 10.0,
    collector: CollectorOption = None,
    run: Annotated[
        str | None, typer.Option("--run", hidden=True, help="Run that it belongs to.")
    ] = None,
    polled: Annotated[str, typer.Option("--polled", hidden=True, help="CPUs that poll.")] = "",
    full: Annotated[
        bool, typer.Option("--full", hidden=True, help="Full rate while frames flow.")
    ] = False,
    store: StoreOption = None,
) -> None:
    """Record raw counters of hosts into the store until --for has passed, or Ctrl-C.

    The sampler is a process of its own on CPUs that do not poll, at normal priority.
    """
    names, rate_hz = tuple(collector or ()), checked_rate(rate)
    collectors(names)
    length_s = None if for_ is None else duration_s("--for", for_)
    with Store(store) as opened, ExitStack() as stack:
        recorders = []
        for address in dict.fromkeys(host or [LOCALHOST]):
            each = HostRecorder(
                opened, address, names, rate_hz,
                polled=parse_list(polled), run_id=run, full=full,
            )  # fmt: skip
            # Also where the next host cannot be reached.
            stack.callback(each.end)
            recorders.append(each)
        for each in recorders:
            shown = typed("kpi", "show", each.writer.id, store=store)
            print_line(f"Recording {each.writer.id}. Show it: {shown}", stderr=True)
        _loop(recorders, length_s, _Commands(recorders) if run is not None else None)


def _loop(
    recorders: Sequence[HostRecorder], length_s: float | None, commands: _Commands | None
) -> None:
    """Take frames until the time has passed, or the run that this belongs to has ended.

    The time counts once every host was read: a sampler and its connection take seconds to start.
    """
    watched = [] if commands is None else [sys.stdin.fileno()]
    waited_for = commands is not None
    first_read_by = time.monotonic() + _FIRST_READ_S
    until: float | None = None
    while until is None or time.monotonic() < until:
        left_s = _WAKE_S if until is None else min(_WAKE_S, until - time.monotonic())
        # Frames wait in their pipe: to wake for each of them costs more than to take them.
        ready, _, _ = select.select(watched, [], [], max(0.0, left_s))
        for each in recorders:
            each.take()
        if waited_for and all(each.has_begun for each in recorders):
            print_line(_READY)
            waited_for = False
        if until is None and length_s is not None and _time_counts(recorders, first_read_by):
            until = time.monotonic() + length_s
        if commands is not None and ready and not commands.take():
            return


def _time_counts(recorders: Sequence[HostRecorder], first_read_by: float) -> bool:
    """Return whether the time of --for counts from now."""
    silent = [each.writer.id for each in recorders if not each.has_begun]
    if not silent:
        return True
    if time.monotonic() < first_read_by:
        return False
    said = f"{', '.join(silent)}: no read within {_FIRST_READ_S:g} s; --for counts from now"
    print_line(said, stderr=True)
    return True


class _Commands:
    """Commands of `wirespeed run` on standard input: a JSON array a line, [kind, at_ns, text].

    Kind "traffic" tells with text "1" that frames flow; the others are marks.
    """

    def __init__(self, recorders: Sequence[HostRecorder]) -> None:
        self._recorders = recorders
        self._received = b""

    def take(self) -> bool:
        """Take the lines that have come; return whether more may follow."""
        piece = os.read(sys.stdin.fileno(), 1 << 16)
        *lines, self._received = (self._received + piece).split(b"\n")
        for line in lines:
            kind, at_ns, text = load_json(line)
            for each in self._recorders:
                if kind == "traffic":
                    each.sampler.tell(traffic=text == "1")
                else:
                    each.mark(Mark(at_ns, MarkKind(kind), text))
        return bool(piece)
