# SPDX-License-Identifier: Apache-2.0
"""How does a study get the host it runs on? This machine's facts, plan and bench."""

from __future__ import annotations

import os
import platform
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path

from wirespeed.bench.interface import Bench
from wirespeed.bench.session import open_bench
from wirespeed.host.collect import collect
from wirespeed.model.plan import Plan
from wirespeed.model.spec import PointSpec
from wirespeed.plan.bench import plan_bench
from wirespeed.remote.local import LocalRunner
from wirespeed.study.interface import Rig


def local_rig() -> Rig:
    """This machine. Reads its facts once; changes nothing before a bench is opened."""
    runner = LocalRunner()
    facts = collect(runner)

    @contextmanager
    def opened(spec: PointSpec, plan: Plan) -> Iterator[Bench]:
        with (
            tempfile.TemporaryDirectory(prefix="ws-", dir=_run_base()) as run_dir,
            open_bench(spec, plan, runner, Path(run_dir)) as bench,
        ):
            yield bench

    return Rig(facts, lambda spec: plan_bench(facts, spec), opened)


def own_versions() -> dict[str, str]:
    """The versions of what measures; the bench adds those of what is measured."""
    return {
        "wirespeed": version("wirespeed"),
        "python": platform.python_version(),
        "kernel": platform.release(),
    }


def _run_base() -> str:
    """Where run directories are made. Short: a unix socket's path ends at 107 characters."""
    runtime = "/run" if os.geteuid() == 0 else os.environ.get("XDG_RUNTIME_DIR", "")
    return runtime if os.access(runtime, os.W_OK) else tempfile.gettempdir()
