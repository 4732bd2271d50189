# SPDX-License-Identifier: Apache-2.0
"""Report the changes of the modules apply, verify and rollback in a few lines."""

from __future__ import annotations

from ansible_collections.wirespeed.nfv.plugins.module_utils.wirespeed import document, run

# More lines than these are only counted.
MOST = 20


def change(module, arguments):
    """Run the verb on this host. Exit code 1 with a document means that something differs."""
    code, out = run(module, [*arguments, "--host", "localhost", "--json"], ok=(0, 1), needs=True)
    return code, document(module, out)


def steps_of(said):
    """Describe the steps that differ or wait."""
    wanting = [step for step in said["steps"] if step["state"] in ("differs", "needs a reboot")]
    steps = [f"{step['name']}: {step['state']} ({step['old']})" for step in wanting]
    return steps + [f"not undone: {one}" for one in said["not_undone"]]


def rows_of(said):
    """Describe the decisions of the plan that the host does not match."""
    wanting = [row for row in said["decisions"] or () if row["verdict"] not in ("ok", "not here")]
    return [
        f"{row['decision']}: is {row['found'] or row['verdict']}, planned {row['planned']}"
        for row in wanting
    ]


def finish(module, code, answer, wanting):
    """End the module; it fails if the verb reports a failure."""
    answer.update(differs=len(wanting), differences=wanting[:MOST])
    if code:
        first = wanting[0] if wanting else "see the host"
        module.fail_json(msg=f"{len(wanting)} not as planned, e.g. {first}", **answer)
    module.exit_json(**answer)
