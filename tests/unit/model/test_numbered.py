# SPDX-License-Identifier: Apache-2.0
"""Check that things of the same name get different ones."""

from __future__ import annotations

from wirespeed.model.numbered import numbered


def test_numbered_gives_the_first_free_number() -> None:
    taken: list[str] = []
    for _ in range(3):
        taken.append(numbered("tg", taken))
    assert taken == ["tg", "tg#2", "tg#3"]
    assert numbered("tg", ["tg", "tg#3"]) == "tg#2"
    assert numbered("ovs", taken) == "ovs"
