# SPDX-License-Identifier: Apache-2.0
"""Start Open vSwitch with DPDK on an emulated server, as it is before a plan."""

from __future__ import annotations

from wirespeed.remote.interface import Runner

_WITH_DPDK = "/usr/lib/openvswitch-switch-dpdk/ovs-vswitchd-dpdk"
# Open vSwitch 3.1, and from 3.2 on.
_SLEEP_KEYS = ("pmd-maxsleep", "pmd-sleep-max")


def start_switch(runner: Runner, timeout_s: float) -> None:
    """Start the switch, now and at each boot. timeout_s: of each command.

    PMD threads sleep without frames: emulated CPUs take turns on this machine's.
    """
    runner.run(["update-alternatives", "--set", "ovs-vswitchd", _WITH_DPDK])
    runner.run(["systemctl", "enable", "--now", "openvswitch-switch"], timeout_s=timeout_s)
    for key in _SLEEP_KEYS:
        runner.run(["ovs-vsctl", "--no-wait", "set", "Open_vSwitch", ".",
                    f"other_config:{key}=500"], timeout_s=timeout_s)  # fmt: skip
