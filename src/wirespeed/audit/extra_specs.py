# SPDX-License-Identifier: Apache-2.0
"""Recognise the extra specs of flavors that Nova reads, and suggest a key for a misspelled one.

The keys are those that Nova 34 registers (nova.api.validation.extra_specs); a test compares them
with the library. A key outside Nova's namespaces always counts as known.
"""

from __future__ import annotations

import difflib
import re

_HW = (
    "boot_menu cpu_cores cpu_dedicated_mask cpu_max_cores cpu_max_sockets cpu_max_threads "
    "cpu_policy cpu_realtime cpu_realtime_mask cpu_sockets cpu_thread_policy cpu_threads "
    "emulator_threads_policy ephemeral_encryption ephemeral_encryption_format hide_hypervisor_id "
    "locked_memory mem_encryption mem_encryption_model mem_page_size numa_nodes "
    "pci_numa_affinity_policy pmem pmu redirected_usb_ports serial_port_count sound_model "
    "tpm_model tpm_secret_security tpm_version usb_model vif_multiqueue_enabled viommu_model "
    "virtio_packed_ring watchdog_action"
)
_QUOTA = (
    "cpu_limit cpu_period cpu_quota cpu_reservation cpu_shares cpu_shares_level cpu_shares_share "
    "disk_io_limit disk_io_reservation disk_io_shares_level disk_io_shares_share "
    "disk_read_bytes_sec disk_read_iops_sec disk_total_bytes_sec disk_total_iops_sec "
    "disk_write_bytes_sec disk_write_iops_sec memory_limit memory_reservation "
    "memory_shares_level memory_shares_share vif_inbound_average vif_inbound_burst "
    "vif_inbound_peak vif_limit vif_outbound_average vif_outbound_burst vif_outbound_peak "
    "vif_reservation vif_shares_level vif_shares_share"
)
KNOWN = frozenset(
    [f"hw:{key}" for key in _HW.split()]
    + [f"quota:{key}" for key in _QUOTA.split()]
    + ["hw_rng:allowed", "hw_rng:rate_bytes", "hw_rng:rate_period", "hw_video:ram_max_mb"]
    + ["accel:device_profile", "os:secure_boot", "pci_passthrough:alias"]
    + ["vmware:hw_version", "vmware:storage_policy"]
)
# Numbered keys, and namespaces whose keys Nova does not list: traits, resource classes, host state.
_PATTERN = re.compile(
    r"hw:numa_(cpus|mem)\.\d+|(trait|resources|capabilities|aggregate_instance)\S*"
)
NAMESPACES = frozenset(
    ("hw", "quota", "hw_rng", "hw_video", "accel", "os", "pci_passthrough", "vmware")
)

# Keys in the papers that have no replacement: with a guest topology the memory policy is strict.
_WITHOUT_SUCCESSOR = frozenset(("hw:numa_mempolicy",))


def is_known(key: str) -> bool:
    """Return whether Nova reads the key or does not own its namespace."""
    namespace, colon, _ = key.partition(":")
    return (
        key in KNOWN
        or _PATTERN.fullmatch(key) is not None
        or not colon
        or namespace not in NAMESPACES
    )


def replacement(key: str) -> str | None:
    """Return the known key that is closest in spelling, or None."""
    if key in _WITHOUT_SUCCESSOR:
        return None
    close = difflib.get_close_matches(key, sorted(KNOWN), n=1, cutoff=0.85)
    return close[0] if close else None
