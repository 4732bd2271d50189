# SPDX-License-Identifier: Apache-2.0
"""Validate rendered files by the API server's and the kubelet's own code (make test-kubernetes)."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.unit.plan.kubernetes.pod_examples import (
    PLANTED_IN_KUBELET_FILES,
    PLANTED_IN_OBJECTS,
    POD_EXAMPLES,
    shipped,
)
from wirespeed.plan.render.targets import render

ORACLE = os.environ.get("WIRESPEED_KUBELET_ORACLE", "")
VALIDATE = os.environ.get("WIRESPEED_KUBECTL_VALIDATE", "")
CRDS = Path(__file__).parent / "crds"
# kubectl-validate 0.0.4 has the schemas of releases up to this one; newer types are the oracle's.
SCHEMAS = "1.30"

pytestmark = pytest.mark.skipif(
    not (ORACLE and VALIDATE), reason="needs programs in Go: make test-kubernetes"
)


def _write(folder: Path, example: str) -> list[Path]:
    made = []
    for path, text in render(shipped(example)).items():
        if path.endswith(".yaml"):
            made.append(folder / path)
            made[-1].parent.mkdir(parents=True, exist_ok=True)
            made[-1].write_text(text, encoding="utf-8")
    return made


def _is_of_the_api(path: Path) -> bool:
    """Return whether kubectl-validate has a schema: not for kubelets and claims."""
    return path.name != "kubelet.yaml" and "dra" not in path.parts


def _by_api(folder: Path, paths: list[Path]) -> subprocess.CompletedProcess[str]:
    crds = folder / "crds"
    crds.mkdir(exist_ok=True)
    for crd in CRDS.glob("*.yaml"):
        shutil.copy(crd, crds)
    command = [VALIDATE, "--version", SCHEMAS, "--local-crds", str(crds), *map(str, paths)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def _by_release(paths: list[Path]) -> subprocess.CompletedProcess[str]:
    command = [ORACLE, *map(str, paths)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("example", POD_EXAMPLES)
def test_rendered_files_are_valid(tmp_path: Path, example: str) -> None:
    paths = _write(tmp_path, example)
    api = [path for path in paths if _is_of_the_api(path)]
    done = _by_api(tmp_path, api)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (done.stdout + done.stderr).count("OK") == len(api)
    # Every kind of object is read by one of the two, Deployments by both.
    others = [p for p in paths if not _is_of_the_api(p) or "pods" in p.parts]
    done = _by_release(others)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("OK") == len(others)


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [*PLANTED_IN_OBJECTS, *PLANTED_IN_KUBELET_FILES],
)
def test_rendered_file_with_a_planted_error_is_refused(
    tmp_path: Path, name: str, old: str, new: str
) -> None:
    path = next(
        p for p in _write(tmp_path, "s1-bng-pods") if p.name == name and old in p.read_text()
    )
    path.write_text(path.read_text(encoding="utf-8").replace(old, new, 1), encoding="utf-8")
    done = _by_api(tmp_path, [path]) if _is_of_the_api(path) else _by_release([path])
    assert done.returncode != 0, f"{path} is accepted with {new!r}"
