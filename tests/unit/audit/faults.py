# SPDX-License-Identifier: Apache-2.0
"""List at least one error per rule: the broken host, and the finding that must result."""

from __future__ import annotations

from tests.unit.audit.case import Case
from tests.unit.audit.faults_cpus import CPU_FAULTS, CPU_UNDECIDABLE
from tests.unit.audit.faults_devices import DEVICE_FAULTS, DEVICE_UNDECIDABLE
from tests.unit.audit.faults_guests import GUEST_FAULTS, GUEST_UNDECIDABLE
from tests.unit.audit.faults_housekeeping import HOUSEKEEPING_FAULTS
from tests.unit.audit.faults_kubelet import KUBELET_FAULTS
from tests.unit.audit.faults_platform import PLATFORM_FAULTS, PLATFORM_UNDECIDABLE
from tests.unit.audit.faults_vswitch import VSWITCH_FAULTS, VSWITCH_UNDECIDABLE

__all__ = ["FAULTS", "UNDECIDABLE", "Case"]

FAULTS = [
    *CPU_FAULTS, *VSWITCH_FAULTS, *DEVICE_FAULTS, *GUEST_FAULTS, *KUBELET_FAULTS,
    *HOUSEKEEPING_FAULTS, *PLATFORM_FAULTS,
]  # fmt: skip
UNDECIDABLE = [
    *CPU_UNDECIDABLE, *VSWITCH_UNDECIDABLE, *DEVICE_UNDECIDABLE, *GUEST_UNDECIDABLE,
    *PLATFORM_UNDECIDABLE,
]  # fmt: skip
