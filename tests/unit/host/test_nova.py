# SPDX-License-Identifier: Apache-2.0
"""Test that nova.conf is read as oslo.config reads it."""

from __future__ import annotations

from collections import defaultdict

from tests.hosts.fake_runner import FakeRunner
from wirespeed.host.nova import Options, parse_oslo, read_nova
from wirespeed.host.reader import Reader
from wirespeed.model.host.guest_facts import NovaFacts

CONF = """
[DEFAULT]
# vcpu_pin_set = 1
reserved_host_memory_mb = 4096
[compute]
cpu_dedicated_set = 2-7,
    10-11
[pci]
device_spec = {"address": "0000:08:00.0"}
device_spec = {"address": "0000:08:00.1"}
[filter_scheduler]
enabled_filters = A, B
"""
MAIN = "/etc/nova/nova.conf"
DROP_IN = "/etc/nova/nova.conf.d/10-cpu.conf"


def nova(files: dict[str, str | OSError]) -> NovaFacts | None:
    return read_nova(Reader(FakeRunner(files=files)))


def test_continuation_lines_repeated_keys_and_comments() -> None:
    facts = nova({MAIN: CONF})
    assert facts
    assert facts.dedicated_cpus == (2, 3, 4, 5, 6, 7, 10, 11)
    assert facts.vcpu_pin_set is None
    assert len(facts.device_specs) == 2
    assert (facts.enabled_filters, facts.reserved_memory_mib) == (("A", "B"), 4096)


def test_a_drop_in_overrides_the_main_file() -> None:
    facts = nova({MAIN: CONF, DROP_IN: "[compute]\ncpu_dedicated_set = 3\n"})
    assert facts
    assert facts.dedicated_cpus == (3,)


def test_the_containers_file_of_tripleo_comes_first() -> None:
    container = "/var/lib/config-data/puppet-generated/nova_libvirt/etc/nova/nova.conf"
    facts = nova({MAIN: CONF, container: "[compute]\ncpu_shared_set = 0\n"})
    assert facts
    assert (facts.path, facts.shared_cpus) == (container, (0,))


def test_old_names_are_understood() -> None:
    facts = nova({MAIN: "[DEFAULT]\nscheduler_default_filters=X\npci_alias={}\n"})
    assert facts
    assert (facts.enabled_filters, facts.aliases) == (("X",), ("{}",))


def test_no_nova_conf_is_absent() -> None:
    assert nova({}) is None


def test_an_indented_first_line_continues_nothing() -> None:
    options: Options = defaultdict(list)
    assert parse_oslo("  [compute]\n a = 1\n", options) == []
    assert options == {("compute", "a"): ["1"]}


def test_parse_oslo_line_that_is_no_option_is_returned() -> None:
    options: Options = defaultdict(list)
    assert parse_oslo("[compute]\na: 1\n$(x)\nb = c:d\n", options) == ["$(x)"]
    assert options == {("compute", "a"): ["1"], ("compute", "b"): ["c:d"]}


def test_drop_in_begins_in_no_section_of_the_main_file() -> None:
    facts = nova({MAIN: "[compute]\n", DROP_IN: "reserved_host_memory_mb = 5\n"})
    assert facts
    assert facts.reserved_memory_mib == 5
