# SPDX-License-Identifier: Apache-2.0
"""Check that SMI counts are read where a CPU has them."""

from __future__ import annotations

from pathlib import Path

from wirespeed.sources.smi import smi_counts


def test_smi_counts_cpus_that_tell_are_read(tmp_path: Path) -> None:
    for cpu, content in {0: bytes(0x34) + (41).to_bytes(4, "little") + b"\xff" * 4, 1: b""}.items():
        (tmp_path / str(cpu)).mkdir()
        (tmp_path / str(cpu) / "msr").write_bytes(content)
    (tmp_path / "3" / "msr").mkdir(parents=True)
    assert smi_counts(range(4), tmp_path) == {0: 41}
