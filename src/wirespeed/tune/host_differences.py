# SPDX-License-Identifier: Apache-2.0
"""Translate the differences of two hosts into study keys and host files that can be tried here."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from wirespeed.remote.interface import Runner
from wirespeed.tune.differences import Difference, Level
from wirespeed.tune.factor import NotTried
from wirespeed.tune.host_factors import GOVERNORS

_OVS = "Open vSwitch "
_NO_TURBO = "/sys/devices/system/cpu/intel_pstate/no_turbo"
_BOOST = "/sys/devices/system/cpu/cpufreq/boost"
_REBOOT = "it needs a reboot, and bisect makes none"
_HARDWARE = "it is hardware or firmware of a host"
# Reasons of what is never tried, by the beginning of the attribute's name.
_LEFT = {
    "kernel": _REBOOT, "isolated CPUs": _REBOOT, "IOMMU": _REBOOT, "SMT": _REBOOT,
    "memory": _HARDWARE, "DIMM": _HARDWARE, "PCI": _HARDWARE, "product": _HARDWARE,
    "BIOS": _HARDWARE, "microcode": _HARDWARE, "CPU": _HARDWARE, "NUMA": _HARDWARE,
    "caches": _HARDWARE,
    "pages of": "a measurement takes its own huge pages, whatever the pool has",
    "idle states": "try it as a factor of `wirespeed tune --factors`: cpuidle/state*/disable",
    "DPDK of": "this host has one version of Open vSwitch",
    "Nova": "a measurement starts no guests of Nova",
}  # fmt: skip


class _NotHere(Exception):
    """Raised with the reason why a value cannot be tried on this host."""


@dataclass(frozen=True, slots=True)
class _Key:
    """A key of other_config, and the study's key for it."""

    key: str
    read: Callable[[str | None], Any]
    """Returns the study's value; None: the default of Open vSwitch."""


def _whole(text: str | None) -> int:
    if text is None:
        return 0
    if not text.isdecimal():
        raise _NotHere(f"{text} is not one number, which the study's key takes")
    return int(text)


# other_config of ovs-vswitchd, by name (ovs-vswitchd.conf.db(5)).
_CONFIG: Mapping[str, _Key] = {
    "emc-insert-inv-prob": _Key("sut.vswitch.ovs.emc", lambda text: text != "0"),
    "smc-enable": _Key("sut.vswitch.ovs.smc", lambda text: text == "true"),
    "pmd-rxq-assign": _Key("sut.vswitch.ovs.rxq_assign", lambda text: text or "cycles"),
    "pmd-auto-lb": _Key("sut.vswitch.ovs.auto_lb", lambda text: text == "true"),
    "pmd-sleep-max": _Key("sut.vswitch.ovs.pmd_max_sleep_us", _whole),
    "pmd-maxsleep": _Key("sut.vswitch.ovs.pmd_max_sleep_us", _whole),
    "per-port-memory": _Key(
        "sut.vswitch.ovs.memory", lambda text: "per-port" if text == "true" else "shared"
    ),
}


def host_differences(
    a: Mapping[str, str], b: Mapping[str, str], runner: Runner
) -> tuple[Sequence[Difference], Sequence[NotTried]]:
    """Return the differences that this host can try, and the others with the reason.

    a, b: attributes of the hosts by name (fleet/attributes.py).
    """
    tried: list[Difference] = []
    left: list[NotTried] = []
    for name in dict.fromkeys((*a, *b)):
        ours, theirs = a.get(name), b.get(name)
        if ours == theirs:
            continue
        plain = Difference(name, ours or "not set", theirs or "not set")
        try:
            if name.startswith(_OVS) and "none" in (a.get(_OVS.strip()), b.get(_OVS.strip())):
                raise _NotHere("one of them has no Open vSwitch")
            levels = [_level(name, value, runner) for value in (ours, theirs)]
        except _NotHere as reason:
            left.append(NotTried(str(plain), str(reason)))
            continue
        if levels[0] == levels[1]:
            same = "both have the same value here, because the study's key has fewer values"
            left.append(NotTried(str(plain), same))
        elif any(levels[1].sets.keys() & each.level_b.sets.keys() for each in tried):
            left.append(NotTried(str(plain), "the study's key is that of another difference"))
        else:
            tried.append(Difference(name, plain.a, plain.b, *levels))
    return tried, left


def _level(name: str, value: str | None, runner: Runner) -> Level:
    """Return the value as it is tried here. Raises _NotHere."""
    key = _CONFIG.get(name.removeprefix(_OVS)) if name.startswith(_OVS) else None
    if key is not None:
        return Level({key.key: key.read(value)})
    if name == "governor":
        return _governor(value, runner)
    if name == "turbo":
        return _turbo(value, runner)
    if name.startswith(_OVS):
        raise _NotHere("no key of a study sets it")
    if name == _OVS.strip():
        raise _NotHere("this host has one version of Open vSwitch")
    raise _NotHere(
        next(
            (why for start, why in _LEFT.items() if name.startswith(start)), "nothing here sets it"
        )
    )


def _governor(value: str | None, runner: Runner) -> Level:
    files = runner.glob(GOVERNORS)
    if not files:
        raise _NotHere("this host's kernel does not control the frequency (no cpufreq)")
    if value is None or value == "none" or " " in value:
        raise _NotHere("its CPUs have no governor, or several")
    offered = runner.read(files[0].replace("scaling_governor", "scaling_available_governors"))
    if value not in offered.split():
        raise _NotHere(f"this host has no governor {value}, only {', '.join(offered.split())}")
    return Level(host=dict.fromkeys(files, value))


def _turbo(value: str | None, runner: Runner) -> Level:
    if value not in ("on", "off"):
        raise _NotHere("one of them does not report it")
    if runner.glob(_NO_TURBO):
        return Level(host={_NO_TURBO: "0" if value == "on" else "1"})
    if runner.glob(_BOOST):
        return Level(host={_BOOST: "1" if value == "on" else "0"})
    raise _NotHere("this host's kernel cannot switch it")
