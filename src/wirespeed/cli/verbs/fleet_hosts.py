# SPDX-License-Identifier: Apache-2.0
"""wirespeed fleet hosts: print the hosts of a fleet as an inventory."""

from __future__ import annotations

import json as json_text

from wirespeed.cli.console import print_json
from wirespeed.cli.input.options import StoreOption
from wirespeed.fleet.snapshot_file import verdict
from wirespeed.store.snapshots import newest_snapshots
from wirespeed.store.store import open_to_read


def hosts(*, store: StoreOption = None) -> None:
    """Print every host with its address, site, hardware and verdict as JSON: an inventory."""
    with open_to_read(store) as opened:
        found = [
            {
                "name": one.member.name,
                "address": one.member.address,
                "site": one.member.site,
                "hardware": one.hardware,
                "verdict": verdict(one),
                "collected_at": one.collected_at,
            }
            for one in newest_snapshots(opened)
        ]
    print_json(json_text.dumps(found, indent=1))
