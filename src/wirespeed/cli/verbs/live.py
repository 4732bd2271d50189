# SPDX-License-Identifier: Apache-2.0
"""wirespeed live: show recordings in the browser."""

from __future__ import annotations

import re
import secrets
import tempfile
import threading
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Annotated

import typer

from wirespeed.cli.console import print_line
from wirespeed.cli.input.listen import listen_address
from wirespeed.cli.input.options import StoreOption
from wirespeed.cli.signals import wait_for_signal
from wirespeed.document.private_file import read_own, write_private
from wirespeed.live.exported import read_file
from wirespeed.live.server import LiveServer
from wirespeed.live.stored import StoredRecording
from wirespeed.model.errors import BadInput
from wirespeed.store import recordings
from wirespeed.store.errors import NoSuchRun
from wirespeed.store.read import run_id_of
from wirespeed.store.recordings import NoSuchRecording
from wirespeed.store.store import Store, open_to_read
from wirespeed.store.url import data_directory

_TOKEN = re.compile(r"[A-Za-z0-9_-]{20,100}")
_WHAT = (
    'Id of a recording (`wirespeed kpi list`), id or name of a run that has one, "latest", or a '
    "file of `wirespeed kpi export --html`."
)


def live(
    what: Annotated[
        str, typer.Argument(metavar="RECORDING|RUN|FILE", help=_WHAT)
    ] = recordings.LATEST,
    *,
    other: Annotated[
        str | None,
        typer.Option(
            "--with",
            metavar="RECORDING|RUN|FILE",
            help="Show this one next to it, aligned at a mark that both have.",
        ),
    ] = None,
    listen: Annotated[
        str, typer.Option("--listen", metavar="ADDRESS:PORT", help="Port 0 takes a free one.")
    ] = "127.0.0.1:9812",
    public: Annotated[
        bool,
        typer.Option(
            "--public",
            help="Allow an address that others can reach. The token is sent unencrypted.",
        ),
    ] = False,
    store: StoreOption = None,
) -> None:
    """Show a recording in the browser, live or replayed: lanes, losses, marks, playback.

    Prints the address of the page, which holds a token, and serves it until Ctrl-C. A recording
    that is being written is followed.
    """
    address, port = listen_address(
        listen, public=public, why="the token in the page's address is sent unencrypted"
    )
    with ExitStack() as stack:
        opened = [_opened(each, store, stack) for each in (what, other) if each is not None]
        title = " and ".join(each.id for each in opened)
        try:
            server = LiveServer(str(address), port, _token(), opened, title)
        except OSError as fault:
            raise BadInput(
                f"--listen {listen}: cannot be used: {fault.strerror}",
                "Name another address or port, e.g. --listen 127.0.0.1:0.",
            ) from fault
        threading.Thread(target=server.serve_forever, daemon=True).start()
        stack.callback(server.end)  # waits for the thread
        where = f", with this machine's name for {address}" if address.is_unspecified else ""
        print_line(f"Open {server.url}{where}", stderr=True)
        wait_for_signal()


def _opened(what: str, store: str | None, stack: ExitStack) -> StoredRecording:
    """Return the recording that a word names. Raises BadInput, StoreError."""
    if what.endswith((".html", ".htm")) or "/" in what:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="wirespeed-live-"))
        private = stack.enter_context(Store(str(Path(folder) / "file.sqlite")))
        imported = read_file(Path(what), private)
        reading = stack.enter_context(open_to_read(private.url))
        return StoredRecording(reading, imported)
    opened = stack.enter_context(open_to_read(store))
    try:
        return StoredRecording(opened, recordings.recording_of(opened, what).id)
    except NoSuchRecording as unknown:
        try:
            run_id = run_id_of(opened, what)
        except NoSuchRun:
            raise unknown from None
    found = recordings.recording_of_run(opened, run_id)
    if found is None:
        raise BadInput(
            f"run {run_id}: no recording was made next to it",
            "`wirespeed run STUDY --kpi` makes one.",
        )
    return StoredRecording(opened, found.id)


def _token() -> str:
    """Return this user's token. It stays the same, so that a page goes on after a new start."""
    path = data_directory() / "live-token"
    try:
        found = read_own(path).strip()
    except FileNotFoundError:
        found = secrets.token_urlsafe(24)
        with suppress(OSError):  # a home that cannot be written: the token lasts as long as this
            write_private(path, f"{found}\n")
    except (OSError, UnicodeDecodeError) as fault:
        raise BadInput(f"{path}: cannot be used as a token: {fault}", "Remove it.") from fault
    if not _TOKEN.fullmatch(found):
        raise BadInput(
            f"{path}: no token: 20 to 100 letters, digits, - and _ are wanted",
            "Remove it; a new one is made.",
        )
    return found
