# SPDX-License-Identifier: Apache-2.0
"""Check that settings of a kubelet that belong together are no findings."""

from __future__ import annotations

from dataclasses import replace

from tests.unit.audit.good_host import good_kubelet, good_subject
from wirespeed.audit.engine import run_rule
from wirespeed.audit.rules.ws56_kubelet_reserves_isolated_cpus import RULE
from wirespeed.model.host.finding import Status


def test_cores_of_pmd_threads_may_be_reserved_and_isolated() -> None:
    """The good host's PMD threads run on the cores 1, 2 and 7."""
    cores = (1, 2, 7, 13, 14, 19)
    kubelet = replace(good_kubelet(), reserved_cpus=(0, 6, 12, 18, *cores))
    (finding,) = run_rule(RULE, replace(good_subject(), kubelet=kubelet))
    assert finding.status is Status.PASSED
