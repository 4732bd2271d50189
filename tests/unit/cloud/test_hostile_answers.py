# SPDX-License-Identifier: Apache-2.0
"""Test that a cloud with hostile answers gives a clear error, or texts that stay values."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.document_fuzz import check_texts
from tests.support.effort import EXHAUSTIVE
from tests.support.examples import example_host, example_plan
from tests.support.hostile import leaves, planted
from tests.unit.cli.hostile import raw
from tests.unit.host.test_hostile_answers import BROKEN, PAYLOADS, READABLE
from wirespeed.cli.console import plain_console, print_line
from wirespeed.cli.show.cloud_picture import print_cloud
from wirespeed.cloud.collect import collect
from wirespeed.cloud.host_facts import completed
from wirespeed.cloud.recording import RecordedApi
from wirespeed.model.cloud import Cloud
from wirespeed.model.errors import WirespeedError
from wirespeed.plan.cloud.diff import diff_cloud

RECORDED = json.loads((Path(__file__).parent / "s2-chains/replies.json").read_text("utf-8"))


def places() -> list[tuple[Any, ...]]:
    """Return one text of each kind in the replies; texts that differ in an index count once."""
    kinds: dict[tuple[str, ...], tuple[Any, ...]] = {}
    for place in leaves(RECORDED["replies"]):
        if not isinstance(place[-1], tuple) or len(place) > 2:
            steps = (str(step) for step in place if not isinstance(step, int))
            kinds["".join(c for step in steps for c in step if not c.isdigit()),] = place
    return list(kinds.values())


def everywhere(text: str) -> Any:
    replies = RECORDED["replies"]
    for place in places():
        if not isinstance(place[-1], tuple):
            replies = planted(replies, place, text)
    return replies


def outcome(replies: Any) -> Cloud | WirespeedError:
    """Return the cloud that answers so, or the error that rejects it."""
    text = json.dumps(RECORDED | {"replies": replies})
    try:
        return collect(RecordedApi(text, "hostile"))
    except WirespeedError as refusal:
        return refusal


@pytest.mark.parametrize("payload", PAYLOADS)
def test_collect_hostile_cloud_stays_values(
    payload: str, capsys: pytest.CaptureFixture[str]
) -> None:
    text, plan, host = PAYLOADS[payload], example_plan("s2-chains"), example_host("s2-chains")
    step = 1 if EXHAUSTIVE else len(PAYLOADS)
    chosen = places()[list(PAYLOADS).index(payload) % step :: step]
    tried = [(place, planted(RECORDED["replies"], place, text)) for place in chosen]
    for place, replies in [*tried, ("everything", everywhere(text))]:
        cloud = outcome(replies)
        if isinstance(cloud, Cloud):
            check_texts(cloud, (), place)
            check_texts(completed(host, cloud), (), place)
            print_cloud(cloud, plain_console(width=200))
            diff_cloud(cloud, plan)
        else:
            assert len(str(cloud)) < READABLE, place
            print_line(str(cloud))
        printed = capsys.readouterr().out
        assert raw(printed) == "", place
        assert not BROKEN.search(printed), place
