# SPDX-License-Identifier: Apache-2.0
"""Read what `wirespeed bisect` compares: studies, plans, recorded hosts or hosts of the fleet."""

from __future__ import annotations

import difflib
from pathlib import Path

from wirespeed.cli.input.plan_source import named_plan
from wirespeed.document.text_file import read_input
from wirespeed.fleet.attributes import attributes
from wirespeed.host.collect import collect
from wirespeed.host.file import HOST_FILE
from wirespeed.model.errors import BadInput
from wirespeed.model.host.facts import HostFacts
from wirespeed.model.input.bounded import load_json
from wirespeed.model.plan.plan import Plan
from wirespeed.model.study.study import Point
from wirespeed.remote.interface import Runner
from wirespeed.remote.recorded import RecordedRunner
from wirespeed.remote.recording import MANIFEST
from wirespeed.store.snapshots import newest_snapshots
from wirespeed.store.store import Store
from wirespeed.study.interface import Rig
from wirespeed.tune.differences import Differences, at_point
from wirespeed.tune.host_differences import host_differences
from wirespeed.tune.plan_differences import plan_differences

Side = Plan | HostFacts


def named_sides(a: str, b: str, store: Store) -> tuple[Side, Side]:
    """Return two plans or two hosts. Raises BadInput."""
    one, other = (_side(named, store) for named in (a, b))
    if isinstance(one, Plan) is not isinstance(other, Plan):
        kinds = ["a plan" if isinstance(each, Plan) else "a host" for each in (one, other)]
        raise BadInput(f"{a} is {kinds[0]}, and {b} is {kinds[1]}", "Name two plans, or two hosts.")
    return one, other


def differences_here(a: Side, b: Side, base: Point, rig: Rig, runner: Runner) -> Differences:
    """Return what two plans or two hosts differ in, as this host can try it at the point."""
    if isinstance(a, Plan):
        assert isinstance(b, Plan)
        found, left = plan_differences(a, b, runner, rig.facts.host)
    else:
        assert isinstance(b, HostFacts)
        found, left = host_differences(attributes(a), attributes(b), runner)
    return at_point(base.parameters, found, left, rig.plan)


def _side(named: str, store: Store) -> Side:
    path = Path(named)
    if path.is_file():
        text = read_input(path)
        return named_plan(path) if _is_plan(text) else HOST_FILE.parse(text, named)
    members = {one.member.name: one.facts for one in newest_snapshots(store)}
    # Files of a fleet's host may lie in a folder of its name.
    if named in members and not (path / MANIFEST).exists():
        return members[named]
    if path.is_dir():
        return collect(RecordedRunner.open(named))
    near = difflib.get_close_matches(named, members, n=2, cutoff=0.4)
    hint = f"Did you mean {' or '.join(near)}? " if near else ""
    raise BadInput(
        f"{named!r} is neither a file, a recorded folder nor a host of the fleet in {store.url}",
        f"{hint}`wirespeed plan` writes plans, `wirespeed inspect` host files and folders, "
        "`wirespeed fleet hosts` lists the fleet.",
    )


def _is_plan(text: str) -> bool:
    try:
        keys = load_json(text)
    except ValueError:
        return False
    return isinstance(keys, dict) and "hosts" in keys
