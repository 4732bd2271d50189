# SPDX-License-Identifier: Apache-2.0
"""wirespeed fleet pairs: run measurements that need several hosts, on any number of controllers."""

from __future__ import annotations

import json as json_text
import os
import signal
import socket
import subprocess
import tempfile
import threading
from pathlib import Path
from typing import Annotated

import typer
from pydantic import BaseModel, ConfigDict, Field
from rich.table import Table

from wirespeed.cli.configuration import MIN_LEASE_S
from wirespeed.cli.console import plain_console, print_json, print_line
from wirespeed.cli.input.options import JsonOption, StoreOption
from wirespeed.document.text_file import read_input
from wirespeed.document.toml_kind import TomlKind
from wirespeed.model.errors import BadInput, WirespeedError
from wirespeed.model.host.installed import own_module
from wirespeed.model.input.bounded import load_json
from wirespeed.model.input.text import FilePath, Label
from wirespeed.remote.interface import LOCALHOST
from wirespeed.remote.ssh_target import SshTarget
from wirespeed.store.leases import Lease, check_can_lease
from wirespeed.store.pairs import (
    PairRecord,
    PairState,
    PairTest,
    add_pairs,
    list_pairs,
    try_again,
)
from wirespeed.store.store import Store, open_to_read
from wirespeed.study.lab import load_lab
from wirespeed.study.load import load_study
from wirespeed.study.pair_worker import PairFailed, Worker, work

_SHOWN = "docs/howto/fleet.md shows a file of pairs."
# Time that a measurement without its lease may take to undo its changes.
_UNDO_S = 120.0


class _Pair(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Annotated[Label, Field(max_length=120)]
    study: FilePath
    lab: FilePath
    links: tuple[Label, ...] = ()
    generator: Label | None = None


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    pair: Annotated[tuple[_Pair, ...], Field(min_length=1)]


def add(
    file: Annotated[
        Path, typer.Argument(metavar="PAIRS.toml", help="A TOML file with a table `pair` for each.")
    ],
    *,
    store: StoreOption = None,
) -> None:
    """Add pair tests to measure; tests whose names exist stay unchanged."""
    tests = read_pairs(file)
    check_can_lease(store)
    with Store(store) as opened:
        added = add_pairs(opened, tests)
    print_line(f"{added} added, {len(tests) - added} known already")


def show(*, json: JsonOption = False, store: StoreOption = None) -> None:
    """Print every pair test, its state and its run."""
    with open_to_read(store) as opened:
        found = list_pairs(opened)
    if json:
        print_json(json_text.dumps([_row(one) for one in found], indent=1))
        return
    table = Table(box=None, pad_edge=False)
    for column in ("pair", "state", "attempts", "run", "resources", "error"):
        table.add_column(column)
    for one in found:
        resources = ", ".join(one.test.resources)
        table.add_row(
            one.test.name, one.state, str(one.attempts), one.run_id or "", resources,
            one.error or "",
        )  # fmt: skip
    plain_console().print(table)


def retry(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="PAIR", help="Names of pairs. Default: all that failed."),
    ] = None,
    *,
    store: StoreOption = None,
) -> None:
    """Queue failed pair tests again, all or those named."""
    with Store(store, exists=True) as opened:
        known = [one.test.name for one in list_pairs(opened)]
        if unknown := [name for name in names or () if name not in known]:
            raise BadInput(
                f"{', '.join(unknown)}: not among the {len(known)} pairs in {opened.url}",
                "`wirespeed fleet pairs list` lists them.",
            )
        print_line(f"{try_again(opened, names or ())} to be measured again")


def work_off(
    *,
    lease: Annotated[
        float,
        typer.Option(
            "--lease",
            metavar="SECONDS",
            min=MIN_LEASE_S,
            help="Seconds after which the hosts of a controller that died are free.",
        ),
    ] = 60.0,
    holder: Annotated[
        str | None,
        typer.Option(
            "--holder",
            help="Name that other controllers see as the user of a host. Default: host and pid.",
        ),
    ] = None,
    store: StoreOption = None,
) -> None:
    """Measure pair tests until none is left. Several controllers may run it at once.

    Exits with 1 when a test has failed too often.
    """
    check_can_lease(store)
    with Store(store) as opened:
        name = holder or f"{socket.gethostname()}:{os.getpid()}"
        # The measurement itself gets the store's name with the password.
        done = work(
            Worker(opened, name, lease, min(lease, 5.0), _Measurement(store).run, print_line)
        )
        failed = [one for one in list_pairs(opened) if one.state is PairState.FAILED]
    print_line(f"{done} complete")
    if failed:
        told = "; ".join(f"{one.test.name}: {one.error}" for one in failed)
        raise WirespeedError(
            f"{len(failed)} pair tests have failed: {told}",
            "Remove the cause, then: wirespeed fleet pairs retry.",
        )


class _Measurement:
    """Measures a pair by `wirespeed run` in a child process, which ends with this one."""

    def __init__(self, store: str | None) -> None:
        self._env = dict(os.environ)
        if store:
            self._env["WIRESPEED_STORE"] = store

    def run(self, test: PairTest, lease: Lease, lost: threading.Event) -> str:
        """Return the ID of the run. Raises PairFailed."""
        with tempfile.TemporaryDirectory(prefix="wirespeed-pair-") as folder:
            lab, out, err = (Path(folder) / name for name in ("lab.toml", "out", "err"))
            lab.write_text(test.lab, encoding="utf-8")
            # If this process dies, the child unwinds, so that the hosts are restored by their
            # changer.
            argv = [
                "setpriv", "--pdeathsig", "TERM", "--",
                *own_module("wirespeed.cli.main"), "run", test.study,
                "--lab", str(lab), "--fence", str(lease.token), "--json",
            ]  # fmt: skip
            with out.open("wb") as to, err.open("wb") as errors:
                process = subprocess.Popen(argv, stdout=to, stderr=errors, env=self._env)
                _await(process, lost)
            if lost.is_set():
                raise PairFailed("the lease was lost while it was measured")
            if process.returncode != 0:
                said = err.read_text(encoding="utf-8", errors="replace").strip().splitlines()
                raise PairFailed(said[-1] if said else f"ended with {process.returncode}")
            run_id = load_json(out.read_text(encoding="utf-8"))["run"]["id"]
            return str(run_id)


def _await(process: subprocess.Popen[bytes], lost: threading.Event) -> None:
    """Wait for the process; end it when the lease is lost or this process is interrupted."""
    try:
        while process.poll() is None and not lost.wait(0.2):
            pass
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(_UNDO_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def read_pairs(file: Path) -> tuple[PairTest, ...]:
    """Return the pair tests of a file; its studies and testbed files exist. Raises BadInput."""
    kind = TomlKind(_File.model_validate, _SHOWN)
    pairs = kind.parse(kind.tables(read_input(file), str(file)), str(file)).pair
    names = [pair.name for pair in pairs]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise BadInput(f"{file}: {', '.join(twice)}: two pairs have that name", _SHOWN)
    return tuple(_test(pair, file.parent) for pair in pairs)


def _test(pair: _Pair, folder: Path) -> PairTest:
    path = folder / pair.lab
    lab = load_lab(path)
    study = folder / pair.study
    named = str(study.absolute()) if study.is_file() else pair.study
    load_study(named)
    hosts = [f"host:{_host(host.ssh)}" for host in lab.hosts.values()]
    shared = [f"link:{link}" for link in pair.links]
    shared += [f"generator:{pair.generator}"] if pair.generator else []
    return PairTest(pair.name, named, read_input(path), tuple(sorted({*hosts, *shared})))


def _host(ssh: str | None) -> str:
    """Return the machine, independent of the user: two testbeds may use two users."""
    if ssh is None:
        return f"{LOCALHOST} of {socket.gethostname()}"
    return SshTarget.parse(ssh).host


def _row(one: PairRecord) -> dict[str, object]:
    return {
        "name": one.test.name,
        "study": one.test.study,
        "resources": list(one.test.resources),
        "state": str(one.state),
        "attempts": one.attempts,
        "run": one.run_id,
        "error": one.error,
    }
