# SPDX-License-Identifier: Apache-2.0
"""Find extra specs of flavors that Nova does not know."""

from __future__ import annotations

from wirespeed.audit import fixes
from wirespeed.audit.extra_specs import is_known, replacement
from wirespeed.audit.needs import Need
from wirespeed.audit.rule import Outcome, Passed, Problem, Rule, Subject
from wirespeed.model.host.finding import Severity
from wirespeed.model.host.guest_facts import Flavor


def check(subject: Subject) -> Outcome:
    flavors = subject.facts.flavors or ()
    unknown = [
        (flavor, key) for flavor in flavors for key in flavor.extra_specs if not is_known(key)
    ]
    if not unknown:
        return Passed(f"all extra specs of {len(flavors)} flavors are known")
    return [_problem(flavor, key) for flavor, key in unknown]


def _problem(flavor: Flavor, key: str) -> Problem:
    right = replacement(key)
    unset = fixes.flavor("unset", flavor.name, key)
    put = fixes.flavor("set", flavor.name, f"{right}={flavor.extra_specs[key]}")
    return Problem(
        found=f"flavor {flavor.name} has {key}={flavor.extra_specs[key]}, which Nova does not know",
        wanted=f"{right}={flavor.extra_specs[key]}" if right else f"no {key}",
        fix=(unset, put) if right else (unset,),
        subject=flavor.name,
    )


RULE = Rule(
    id="WS36",
    name="unknown-extra-spec",
    title="A flavor has an extra spec that Nova does not know",
    severity=Severity.HIGH,
    needs=(Need.FLAVORS,),
    wanted="extra specs from Nova's list (nova.api.validation.extra_specs) only",
    why="Nova ignores it: the guest starts without the setting. The papers' "
    "hw:cpu_threads_policy and hw:numa_mempolicy are such keys.",
    source="S0 table 4; S1; S3 figure 10; Nova, extra specs",
    check=check,
)
