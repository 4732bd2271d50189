# SPDX-License-Identifier: Apache-2.0
"""Which commands correct a setting? Lines that start with "#" are comments."""

from __future__ import annotations


def kernel_arguments(arguments: str) -> tuple[str, ...]:
    """Set kernel command line arguments permanently; they take effect with the next boot."""
    return (
        f'grubby --update-kernel=ALL --args="{arguments}"',
        "# without grubby: put them into GRUB_CMDLINE_LINUX in /etc/default/grub, run update-grub",
        "reboot",
    )


def ovs_other_config(assignment: str) -> tuple[str, ...]:
    """Set a key of Open vSwitch's other_config, e.g. "pmd-cpu-mask=0xc"."""
    return (f"ovs-vsctl set Open_vSwitch . other_config:{assignment}",)


def ovs_interface(name: str, assignment: str) -> tuple[str, ...]:
    """Set a column of an interface, e.g. "options:n_rxq=2"."""
    return (f"ovs-vsctl set Interface {name} {assignment}",)


def nova_option(path: str, section: str, assignment: str) -> tuple[str, ...]:
    """Set an option in nova.conf; nova-compute reads it when it starts."""
    return (f"# {path}, section [{section}]:", f"#   {assignment}", RESTART_NOVA)


RESTART_NOVA = "systemctl restart openstack-nova-compute  # nova-compute on Debian and Ubuntu"
RESTART_OVS = "systemctl restart openvswitch  # openvswitch-switch on Debian and Ubuntu"
