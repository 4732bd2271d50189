# SPDX-License-Identifier: Apache-2.0
"""Define a service: its databases and their setup, its programs, its address."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tests.cloud.processes import PYTHON, Program

_INSIDE = Path(__file__).parents[1] / "inside"


@dataclass(frozen=True, slots=True)
class Service:
    """kind and path: of its endpoint in the catalog; path may hold Keystone's substitutions.

    fill: the programs that fill its databases, one after another. after: the services that must
    answer before its programs start. reads: the files of a plan that its programs read when they
    start, by their names below `openstack/`, and where.
    """

    name: str
    kind: str
    path: str
    databases: tuple[str, ...]
    fill: tuple[Program, ...]
    programs: tuple[Program, ...]
    after: tuple[str, ...] = ()
    reads: Mapping[str, Path] = field(default_factory=dict)


def console(name: str, entry: str, *argv: str, environ: Mapping[str, str] | None = None) -> Program:
    """A console entry point ("module:function") of a Debian Python package."""
    return Program(name, (PYTHON, str(_INSIDE / "console.py"), entry, name, *argv), environ or {})


def wsgi(name: str, entry: str, port: int, environ: Mapping[str, str]) -> Program:
    """A WSGI application ("module:function that makes it") under waitress."""
    return Program(name, (PYTHON, str(_INSIDE / "wsgi.py"), entry, str(port)), environ)


def inside(name: str, script: str, *argv: str) -> Program:
    """A program of ours that runs among Debian's packages."""
    return Program(name, (PYTHON, str(_INSIDE / script), *argv))
