# SPDX-License-Identifier: Apache-2.0
"""Write the commands that correct a setting. Lines that start with "#" are comments.

Values from a host or a plan are quoted: each is one shell word, or part of one. Commands that
differ are those of the host's distribution. For an unknown one they are RHEL's, and a comment names
the others.
"""

from __future__ import annotations

import shlex

from wirespeed.model.distribution import DEFAULTS, DROP_INS, Distribution, Family
from wirespeed.model.input.text import KERNEL_WORD, printable

_DROP_IN = f"{DROP_INS}/50-audit.cfg"


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


def kernel_arguments(on: Distribution, arguments: str) -> tuple[str, ...]:
    """Set kernel command line arguments permanently; they take effect with the next boot."""
    return (*_added(on, arguments), "reboot")


def without_kernel_arguments(on: Distribution, arguments: str) -> tuple[str, ...]:
    """Remove words of the kernel command line permanently, from the next boot on."""
    grubby = command("grubby", "--update-kernel=ALL", f"--remove-args={arguments}")
    if not on.known:
        other = f"without grubby: take {arguments} out of {DEFAULTS}, run {_NEW_MENUS}"
        return (grubby, comment(other), "reboot")
    if on.family is Family.RHEL:
        return (grubby, "reboot")
    places = f"{DEFAULTS} or {DROP_INS}" if on.family is Family.DEBIAN else DEFAULTS
    return (comment(f"take {arguments} out of {places}"), command(*on.new_menu), "reboot")


def _added(on: Distribution, arguments: str) -> tuple[str, ...]:
    grubby = command("grubby", "--update-kernel=ALL", f"--args={arguments}")
    if not on.known:
        other = f"without grubby: put them into GRUB_CMDLINE_LINUX in {DEFAULTS}, run {_NEW_MENUS}"
        return (grubby, comment(other))
    if on.family is Family.RHEL:
        return (grubby,)
    if not all(map(KERNEL_WORD.fits, arguments.split(" "))):
        # GRUB reads its settings as a shell script, where other characters have a meaning.
        return (comment(f"put into GRUB_CMDLINE_LINUX in {DEFAULTS}, quoted: {arguments}"),
                command(*on.new_menu))  # fmt: skip
    others = ", ".join(dict.fromkeys(word.partition("=")[0] for word in arguments.split()))
    return (
        comment(f"take other values of {others} out of {DEFAULTS}"),
        *_SET[on.family](arguments),
        command(*on.new_menu),
    )


def _in_drop_in(arguments: str) -> tuple[str, ...]:
    assignment = f'GRUB_CMDLINE_LINUX="$GRUB_CMDLINE_LINUX {arguments}"'
    return (command("mkdir", "-p", DROP_INS), f"{command('echo', assignment)} >> {_DROP_IN}")


def _in_defaults(arguments: str) -> tuple[str, ...]:
    # "|" is in no kernel word.
    edit = rf's|^\(GRUB_CMDLINE_LINUX_DEFAULT="[^"]*\)"|\1 {arguments}"|'
    return (command("sed", "-i", edit, DEFAULTS),)


_SET = {Family.DEBIAN: _in_drop_in, Family.SUSE: _in_defaults}
_NEW_MENUS = "update-grub (Debian, Ubuntu) or grub2-mkconfig -o /boot/grub2/grub.cfg (SUSE)"


def program(on: Distribution, name: str) -> tuple[str, ...]:
    """Name the command that installs a program; nothing for an unknown distribution."""
    package = on.packages.get(name)
    return (comment(f"{name}: {command(*on.install, package)}"),) if package else ()


def microcode(on: Distribution, cpu_model: str) -> tuple[str, ...]:
    """Install newer microcode of the processor."""
    vendor = "AMD" if "AMD" in cpu_model else "Intel" if "Intel" in cpu_model else ""
    package = on.packages.get(f"microcode of {vendor}")
    if package:
        return (command(*on.install, package, note="newer microcode; or the server's firmware"),)
    named = " or ".join(p for key, p in on.packages.items() if key.startswith("microcode"))
    named = named or (
        "intel-microcode or amd64-microcode (Debian, Ubuntu), microcode_ctl or linux-firmware "
        "(RHEL), ucode-intel or ucode-amd (SUSE)"
    )
    return (comment(f"newer microcode: package {named}; or the server's firmware"),)


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


def nova_option(on: Distribution, path: str, section: str, assignment: str) -> tuple[str, ...]:
    """Set an option in nova.conf; nova-compute reads it when it starts."""
    restart = _restart(on, on.nova_compute_unit, "nova-compute on Debian and Ubuntu")
    return (*_ini(path, section, assignment), restart)


def scheduler_option(on: Distribution, path: str, section: str, assignment: str) -> tuple[str, ...]:
    """Set an option in nova.conf; nova-scheduler reads it when it starts."""
    restart = _restart(on, on.nova_scheduler_unit, "nova-scheduler on Debian, Ubuntu")
    return (*_ini(path, section, assignment), restart)


def restart_ovs(on: Distribution) -> str:
    """Restart Open vSwitch."""
    return _restart(on, on.ovs_unit, "openvswitch-switch on Debian and Ubuntu")


def _restart(on: Distribution, unit: str, elsewhere: str) -> str:
    return command("systemctl", "restart", unit, note="" if on.known else elsewhere)


def _ini(path: str, section: str, assignment: str) -> tuple[str, str]:
    return comment(f"{path}, section [{section}]:"), comment(f"  {assignment}")
