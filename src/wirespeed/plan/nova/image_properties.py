# SPDX-License-Identifier: Apache-2.0
"""Check whether Nova knows an image property, and whether a plan depends on it.

The names are those of Nova 34 (nova.objects.image_meta.ImageMetaProps); a test compares them with
the library. Nova silently drops unknown names, so such a property is an error here. Names outside
Nova's namespaces (Glance's, the operator's) are passed on.
"""

from __future__ import annotations

import difflib
import re

_HW = (
    "architecture auto_disk_config boot_menu cdrom_bus cpu_cores cpu_max_cores cpu_max_sockets "
    "cpu_max_threads cpu_policy cpu_realtime_mask cpu_sockets cpu_thread_policy cpu_threads "
    "device_id disk_bus disk_type emulation_architecture ephemeral_encryption "
    "ephemeral_encryption_format ephemeral_encryption_secret_uuid firmware_stateless "
    "firmware_type floppy_bus input_bus ipxe_boot locked_memory machine_type maxphysaddr_bits "
    "maxphysaddr_mode mem_encryption mem_encryption_model mem_page_size numa_nodes "
    "pci_numa_affinity_policy pmu pointer_model qemu_guest_agent redirected_usb_ports rescue_bus "
    "rescue_device rng_model scsi_model serial_port_count sound_model time_hpet tpm_model "
    "tpm_version usb_model video_model video_ram vif_model vif_multiqueue_enabled viommu_model "
    "virtio_packed_ring vm_mode watchdog_action"
)
_IMG = (
    "bdm_v2 bittorrent block_device_mapping cache_in_nova compression_level config_drive "
    "hide_hypervisor_id hv_requested_version hv_type linked_clone mappings owner_id "
    "root_device_name signature signature_certificate_uuid signature_hash_method "
    "signature_key_type use_agent version"
)
_OS = (
    "admin_user command_line distro require_quiesce secure_boot skip_agent_inject_files_at_boot "
    "skip_agent_inject_ssh type"
)
KNOWN = frozenset(
    [f"hw_{name}" for name in _HW.split()]
    + [f"img_{name}" for name in _IMG.split()]
    + [f"os_{name}" for name in _OS.split()]
)
NUMBERED = re.compile(r"hw_numa_(cpus|mem)\.\d+")
# Properties that image_settings.py merges into the VNF: the plan depends on them.
PLANNED = frozenset(
    (
        "hw_cpu_policy",
        "hw_cpu_thread_policy",
        "hw_mem_page_size",
        "hw_numa_nodes",
        "hw_pci_numa_affinity_policy",
        "hw_vif_multiqueue_enabled",
    )
)


def unknown_property(key: str) -> str | None:
    """Return why Nova would drop the property.

    Returns None if Nova reads it, or if its namespace is not Nova's.
    """
    if not key.startswith(("hw_", "img_", "os_")) or key in KNOWN or NUMBERED.fullmatch(key):
        return None
    near = difflib.get_close_matches(key, sorted(KNOWN), n=1, cutoff=0.8)
    return f"Nova knows no such property{f'; did you mean {near[0]!r}?' if near else ''}"


def is_planned(key: str) -> bool:
    """Return whether the plan depends on the property; others are only passed to the image."""
    return key in PLANNED or NUMBERED.fullmatch(key) is not None
