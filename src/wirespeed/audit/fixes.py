# SPDX-License-Identifier: Apache-2.0
"""Write the commands that correct a setting. Lines that start with "#" are comments.

Values from a host or a plan are quoted: each is one shell word, or part of one.
"""

from __future__ import annotations

import shlex

from wirespeed.model.input.text import printable


def command(*words: object, note: str = "") -> str:
    """Return a command line of these words, with the note as a trailing comment."""
    line = shlex.join(map(printable, map(str, words)))
    return f"{line}  {comment(note)}" if note else line


def comment(text: str) -> str:
    """Return the text as a comment line of the shell."""
    return f"# {printable(text)}"


def write_to(path: str, value: object) -> str:
    """Write a value to a file of /sys or /proc."""
    return f"{command('echo', value)} > {command(path)}"


def kernel_arguments(arguments: str) -> tuple[str, ...]:
    """Set kernel command line arguments permanently; they take effect with the next boot."""
    return (
        command("grubby", "--update-kernel=ALL", f"--args={arguments}"),
        comment("without grubby: put them into GRUB_CMDLINE_LINUX in /etc/default/grub, run "
                "update-grub"),
        "reboot",
    )  # fmt: skip


def ovs_other_config(assignment: str) -> tuple[str, ...]:
    """Set a key of Open vSwitch's other_config, e.g. "pmd-cpu-mask=0xc"."""
    return (command("ovs-vsctl", "set", "Open_vSwitch", ".", f"other_config:{assignment}"),)


def ovs_interface(name: str, *assignments: str) -> tuple[str, ...]:
    """Set columns of an interface, e.g. "options:n_rxq=2"."""
    return (command("ovs-vsctl", "set", "Interface", name, *assignments),)


def ovs_look(name: str, *columns: str, note: str = "") -> str:
    """Show columns of an interface."""
    return command("ovs-vsctl", "get", "Interface", name, *columns, note=note)


def flavor(verb: str, name: str, prop: str) -> str:
    """Set or unset (verb) a property of a flavor, e.g. "hw:numa_nodes=1"."""
    return command("openstack", "flavor", verb, name, "--property", prop)


def nova_option(path: str, section: str, assignment: str) -> tuple[str, ...]:
    """Set an option in nova.conf; nova-compute reads it when it starts."""
    return (*_ini(path, section, assignment), RESTART_NOVA)


def scheduler_option(path: str, section: str, assignment: str) -> tuple[str, ...]:
    """Set an option in nova.conf; nova-scheduler reads it when it starts."""
    return (*_ini(path, section, assignment), RESTART_SCHEDULER)


def _ini(path: str, section: str, assignment: str) -> tuple[str, str]:
    return comment(f"{path}, section [{section}]:"), comment(f"  {assignment}")


RESTART_NOVA = "systemctl restart openstack-nova-compute  # nova-compute on Debian and Ubuntu"
RESTART_SCHEDULER = "systemctl restart openstack-nova-scheduler  # nova-scheduler on Debian, Ubuntu"
RESTART_OVS = "systemctl restart openvswitch  # openvswitch-switch on Debian and Ubuntu"
