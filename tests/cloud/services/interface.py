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
    """A service of the control plane."""

    name: str
    kind: str
    """Type of its endpoint in the catalog."""
    path: str
    """Path of its endpoint, possibly with Keystone's substitutions."""
    databases: tuple[str, ...]
    fill: tuple[Program, ...]
    """Programs that fill its databases, one after another."""
    programs: tuple[Program, ...]
    after: tuple[str, ...] = ()
    """Services that must answer before its programs start."""
    reads: Mapping[str, Path] = field(default_factory=dict)
    """Files of a plan that its programs read at their start: name below `openstack/`, and path."""


def console(name: str, entry: str, *argv: str, environ: Mapping[str, str] | None = None) -> Program:
    """Return the program of a console entry point ("module:function") of a Debian package."""
    return Program(name, (PYTHON, str(_INSIDE / "console.py"), entry, name, *argv), environ or {})


def wsgi(name: str, entry: str, port: int, environ: Mapping[str, str]) -> Program:
    """Return the program of a WSGI application ("module:factory") under waitress."""
    return Program(name, (PYTHON, str(_INSIDE / "wsgi.py"), entry, str(port)), environ)


def inside(name: str, script: str, *argv: str) -> Program:
    """Return one of our programs; it runs with Debian's packages."""
    return Program(name, (PYTHON, str(_INSIDE / script), *argv))
