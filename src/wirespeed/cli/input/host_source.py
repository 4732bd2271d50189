# SPDX-License-Identifier: Apache-2.0
"""Read the facts of a host: this machine, one over ssh, a recorded one or a file."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from wirespeed.bench.host.journal_file import of_killed_runs
from wirespeed.bench.interface import BenchError
from wirespeed.document.text_file import read_input
from wirespeed.host.collect import collect
from wirespeed.host.file import HOST_FILE
from wirespeed.model.errors import BadInput, WirespeedError
from wirespeed.model.host.facts import HostFacts, Missing
from wirespeed.model.plan.kubelet import KubeletSettings
from wirespeed.remote.interface import LOCALHOST, HostUnreachable, Runner
from wirespeed.remote.reach import reach
from wirespeed.remote.recorded import RecordedRunner
from wirespeed.remote.recorder import Recorder
from wirespeed.remote.recording import make_folder, save
from wirespeed.remote.state import state_directory

HostOption = Annotated[
    str | None,
    typer.Option(
        "--host",
        metavar="HOST",
        help="ssh://user@host:port (user and port are optional), or a file written by "
        "`wirespeed inspect --json`. Default: this machine.",
    ),
]
RecordedOption = Annotated[
    str | None,
    typer.Option(
        "--recorded", metavar="DIR", help="A host recorded with `wirespeed inspect --record DIR`."
    ),
]
ImportOption = Annotated[
    Path | None,
    typer.Option(
        "--from",
        metavar="FILE",
        help="A host by its sosreport, by an OpenShift must-gather (--node), or by the XML of "
        "lstopo. The kind is found by the content.",
    ),
]
NodeOption = Annotated[
    str | None,
    typer.Option(
        "--node",
        metavar="NAME",
        help="With --from: node of a must-gather. Default: the only one.",
    ),
]


def read_any_facts(
    host: str | None, recorded: str | None, imported: Path | None, node: str | None
) -> HostFacts:
    """Return the facts of the host that one of the options names. Raises BadInput."""
    return read_any_host(host, recorded, imported, node)[0]


def read_any_host(
    host: str | None, recorded: str | None, imported: Path | None, node: str | None
) -> tuple[HostFacts, KubeletSettings | None]:
    """Return the same, and the settings of its kubelet where a file has them."""
    if imported is None:
        if node is not None:
            raise BadInput("--node names a node of a file", "Give --from FILE as well.")
        return read_facts(host, recorded), None
    if host is not None or recorded is not None:
        raise BadInput("--from names a host, as --host and --recorded do", "Give one of them.")
    # Archives and XML load modules for which no other host should wait.
    from wirespeed.host.imported.source import facts_of, open_imported

    opened = open_imported(imported, node)
    return facts_of(opened), opened.kubelet


def read_facts(host: str | None, recorded: str | None, record: Path | None = None) -> HostFacts:
    """Return the facts of the named host. Raises BadInput.

    record: folder that gets what was read.
    """
    if host is not None and recorded is not None:
        raise BadInput("--host and --recorded name two hosts", "Give one of them.")
    for option, value in (("--host", host), ("--recorded", recorded)):
        # An empty value may come from an unset shell variable, which does not mean this machine.
        if value == "":
            raise BadInput(
                f"{option} names no host: it is empty", f"Leave out {option} or name it."
            )
    if host is not None and not host.startswith("ssh:"):
        if "://" in host:
            raise BadInput(f"{host!r} is neither a file nor an ssh address", "Use ssh://user@host.")
        if record:
            raise BadInput(f"{host} is a file: there is nothing to record", "Leave out --record.")
        step = "Check the path. A host that is to be reached is written ssh://user@host."
        return HOST_FILE.parse(read_input(Path(host), step), host)
    with _runner(host, recorded) as runner:
        if record is None:
            facts = collect(runner)
        else:
            make_folder(record)
            recorder = Recorder(runner)
            facts = collect(recorder)
            save(recorder.recording, record)
        return facts if recorded is not None else _with_leftovers(facts, runner.address)


def _with_leftovers(facts: HostFacts, address: str) -> HostFacts:
    """Add what this machine's killed runs left on the host, by their journals."""
    try:
        left = of_killed_runs(state_directory(os.environ), address)
    except (OSError, BenchError) as fault:
        lacking = Missing("left_by_killed_runs", str(fault))
        return replace(facts, missing=(*facts.missing, lacking))
    return replace(facts, left_by_killed_runs=tuple(str(change) for change in left))


def read_all_facts(hosts: Sequence[str], recordings: Sequence[str]) -> list[HostFacts]:
    """Return the facts of every named host, or of this machine.

    Raises one BadInput for all bad ones.
    """
    if not hosts and not recordings:
        return [read_facts(None, None)]
    found: list[HostFacts] = []
    faults: list[WirespeedError] = []
    named: list[tuple[str | None, str | None]] = [(host, None) for host in hosts]
    named += [(None, folder) for folder in recordings]
    for host, recorded in named:
        try:
            found.append(read_facts(host, recorded))
        except (BadInput, HostUnreachable) as fault:
            faults.append(fault)
    if len(faults) == 1:
        raise faults[0]
    if faults:
        steps = "\n".join(dict.fromkeys(fault.next_step for fault in faults if fault.next_step))
        texts = "\n".join(fault.what for fault in faults)
        raise BadInput(f"{len(faults)} of {len(named)} hosts cannot be used:\n{texts}", steps)
    return found


@contextmanager
def _runner(host: str | None, recorded: str | None) -> Iterator[Runner]:
    if recorded is not None:
        yield RecordedRunner.open(recorded)
    else:
        with reach(LOCALHOST if host is None else host) as runner:
            yield runner
