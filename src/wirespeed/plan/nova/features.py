# SPDX-License-Identifier: Apache-2.0
"""Translate CPU features into the names of the kernel and OpenStack, and into host labels.

Source: os-traits (HW_CPU_X86_*) and the flags that Nova's libvirt driver reports as traits.
"""

from __future__ import annotations

_TRAITS = {
    "abm": "ABM", "aes": "AESNI", "amx_bf16": "AMXBF16", "amx_int8": "AMXINT8",
    "amx_tile": "AMXTILE", "avx": "AVX", "avx2": "AVX2", "avx512bw": "AVX512BW",
    "avx512cd": "AVX512CD", "avx512dq": "AVX512DQ", "avx512f": "AVX512F",
    "avx512ifma": "AVX512IFMA", "avx512vbmi": "AVX512VBMI", "avx512vl": "AVX512VL",
    "avx512_vnni": "AVX512VNNI", "bmi1": "BMI", "bmi2": "BMI2", "f16c": "F16C", "fma": "FMA3",
    "gfni": "AVX512GFNI", "mmx": "MMX", "sha_ni": "SHA", "sse": "SSE", "sse2": "SSE2",
    "sse4_1": "SSE41", "sse4_2": "SSE42", "sse4a": "SSE4A", "ssse3": "SSSE3", "svm": "SVM",
    "vaes": "AVX512VAES", "vmx": "VMX", "vpclmulqdq": "AVX512VPCLMULQDQ",
}  # fmt: skip

# Traits of the whole host that guests may require or forbid.
HYPERTHREADING = "HW_CPU_HYPERTHREADING"


def kernel_name(feature: str) -> str:
    """Return the spelling of /proc/cpuinfo, e.g. "sse4_2" for libvirt's "sse4.2"."""
    return feature.lower().replace(".", "_").replace("-", "_")


def trait(feature: str) -> str | None:
    """Return the placement trait of a CPU feature; None if OpenStack has none."""
    suffix = _TRAITS.get(kernel_name(feature))
    return f"HW_CPU_X86_{suffix}" if suffix else None


def feature_label(feature: str) -> str:
    """Return the label of a host that has the feature, and of a guest that needs it."""
    return f"cpu:{kernel_name(feature)}"


def network_label(physical_network: str) -> str:
    """Return the label of a host whose vSwitch is connected to a physical network."""
    return f"network:{physical_network}"


def aggregate_label(name: str) -> str:
    """Return the label of a host in an aggregate, and of a guest that must run in it."""
    return f"aggregate:{name}"
