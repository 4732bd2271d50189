# SPDX-License-Identifier: Apache-2.0
"""Check that Nova knows every key of our flavors, and reads the planned guest from them."""

from __future__ import annotations

from random import Random

import pytest
from nova.api.validation.extra_specs import validators
from nova.virt import hardware

from tests.nova_library.world import flavor, image
from tests.support.examples import LAB, plans
from tests.support.random_cases import random_guest
from wirespeed.model.plan.policy import CpuPolicy
from wirespeed.model.plan.workload import Vnf, Workload
from wirespeed.plan.nova.flavors import extra_specs
from wirespeed.plan.nova.guests import guest_cells, has_topology, page_request
from wirespeed.plan.workload.file import parse_workload

validators.load_validators()


@pytest.mark.parametrize("name", ["lab", "s0-speedtest", "s1-bng", "s2-chains", "s3-jumbo"])
def test_planned_flavors_have_valid_keys_and_values(name: str) -> None:
    for planned in plans()[name].flavors:
        for key, spec in planned.specs.items():
            validators.validate(key, spec.value)


def test_an_invalid_key_is_noticed() -> None:
    """Show with the spelling of S0 and S1 that the check above can fail."""
    with pytest.raises(Exception, match="hw:cpu_threads_policy"):
        validators.validate("hw:cpu_threads_policy", "prefer")


def compare(vnf: Vnf, workload: Workload) -> None:
    for key, value in extra_specs(vnf, workload).items():
        validators.validate(key, value)
    read = hardware.numa_get_constraints(flavor(vnf, workload), image(vnf))
    assert (read is not None) == has_topology(vnf)
    if read is None:
        return
    ours = guest_cells(vnf)
    assert [(c.cpuset, c.pcpuset, c.memory) for c in read.cells] == [
        (set(c.floating), set(c.pinned), c.memory_mib) for c in ours
    ]
    assert {c.pagesize or 0 for c in read.cells} == {page_request(vnf.page_size)}
    assert bool(read.emulator_threads_isolated) == (vnf.emulator_policy == "isolate")


def test_nova_reads_the_guest_that_was_meant() -> None:
    for seed in range(2000):
        vnf, workload, _ = random_guest(Random(seed))
        compare(vnf, workload)


def test_nova_reads_the_labs_guests_image_properties_included() -> None:
    workload = parse_workload(LAB, "lab.toml")
    for vnf in workload.vnfs:
        compare(vnf, workload)


def test_numa_cpus_without_numa_nodes_would_float() -> None:
    """Check that the file reader adds the node count that S1's own example lacks.

    Nova gives that example no topology.
    """
    written = Vnf(
        "s1", 8, 2048, numa_cpus=((0, 1, 2, 3), (4, 5, 6, 7)), numa_memory_mib=(1024, 1024)
    )
    workload = Workload("w", (written,))
    assert hardware.numa_get_constraints(flavor(written, workload), image(written)) is None
    text = (
        'name="w"\n[[vnf]]\nname="s1"\nvcpus=8\nmemory_mib=2048\n'
        'numa_cpus=["0-3","4-7"]\nnuma_memory_mib=[1024,1024]\n'
    )
    read = parse_workload(text, "w.toml").vnfs[0]
    compare(read, Workload("w", (read,)))
    assert read.cpu_policy is not CpuPolicy.DEDICATED
