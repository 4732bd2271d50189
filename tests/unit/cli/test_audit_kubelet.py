# SPDX-License-Identifier: Apache-2.0
"""Audit a must-gather with the kubelet in it, and with the one that --kubelet names."""

from __future__ import annotations

from pathlib import Path

import yaml

from tests.unit.cli.conftest import Command
from tests.unit.host.test_imported_kubelet import SETTINGS, WHOLE, gathered

SPLIT = "reservedSystemCPUs 0 leaves the siblings"


def test_audit_of_a_must_gather_prefers_the_kubelet_that_is_given(
    wirespeed: Command, tmp_path: Path
) -> None:
    path = str(gathered(tmp_path))
    assert SPLIT in " ".join(wirespeed("audit", "--from", path).out.split())
    whole = ",".join(map(str, WHOLE.siblings(0)))
    given = tmp_path / "kubelet.yaml"
    settings = {**SETTINGS, "reservedSystemCPUs": whole}
    given.write_text(yaml.safe_dump({"kind": "KubeletConfig", "spec": {"kubeletConfig": settings}}))
    done = wirespeed("audit", "--from", path, "--kubelet", str(given), "--all")
    said = " ".join(done.out.split())
    assert SPLIT not in said
    assert f"reserved CPUs {whole} are whole cores" in said
