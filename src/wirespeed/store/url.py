# SPDX-License-Identifier: Apache-2.0
"""Choose the database: --store, WIRESPEED_STORE, or a file in the XDG data directory."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from wirespeed.model.errors import BadInput


def data_directory(env: Mapping[str, str] = os.environ) -> Path:
    """Return $XDG_DATA_HOME/wirespeed, or ~/.local/share/wirespeed (XDG Base Directory 0.8)."""
    home = env.get("XDG_DATA_HOME", "")
    base = Path(home) if home.startswith("/") else Path.home() / ".local" / "share"
    return base / "wirespeed"


def is_named(named: str | None, env: Mapping[str, str] = os.environ) -> bool:
    """Return whether the user chose the store, by --store or the environment."""
    return bool(named or env.get("WIRESPEED_STORE"))


def shown_url(url: URL) -> str:
    """Return the URL as in --store: without the driver's name, and without a password."""
    return url.set(drivername=url.get_backend_name()).render_as_string(hide_password=True)


def store_url(named: str | None, env: Mapping[str, str] = os.environ) -> URL:
    """Return the URL of the store. A plain path names an SQLite file. Raises BadInput."""
    named = named or env.get("WIRESPEED_STORE") or str(data_directory(env) / "wirespeed.sqlite")
    if "://" not in named:
        return URL.create("sqlite", database=str(Path(named).expanduser().absolute()))
    try:
        url = make_url(named)
    except (ArgumentError, ValueError) as error:
        raise _bad_url(named) from error
    if url.drivername == "sqlite" and url.database and url.database != ":memory:":
        return url
    if url.drivername in ("postgresql", "postgres", "postgresql+psycopg"):
        return url.set(drivername="postgresql+psycopg")
    raise _bad_url(named)


def _bad_url(named: str) -> BadInput:
    return BadInput(
        f"--store {named}: neither a file nor a database that wirespeed can use",
        "Name a file, sqlite:////path/file, or postgresql://user@host/database.",
    )
