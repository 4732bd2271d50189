# SPDX-License-Identifier: Apache-2.0
"""Which of openstacksdk's files did it skip without a word, and why?

It looks for a cloud in the first file that it can read. What is wrong with the ones before is
not told, so that a cloud of a damaged file is "not found".
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

from wirespeed.model.bounded import load_json


def skipped_files() -> Iterator[str]:
    """A sentence for each file that is there and cannot be used. None of them quotes it: it may
    be a password that makes a file unreadable."""
    from openstack.config.loader import CONFIG_FILES, SECURE_FILES

    named = [os.environ.get(f"OS_CLIENT_{kind}_FILE", "") for kind in ("CONFIG", "SECURE")]
    for name in (*named, *CONFIG_FILES, *SECURE_FILES):
        if name and os.path.exists(name) and (why := _fault(Path(name))):
            yield f"{name} {why}"


def _fault(path: Path) -> str | None:
    import yaml

    try:
        text = path.read_text(encoding="utf-8")
        if path.suffix == ".json":
            load_json(text)
        else:
            yaml.safe_load(text)
    except OSError as fault:
        return f"cannot be read: {fault.strerror}"
    except UnicodeDecodeError:
        return "is not UTF-8 text"
    except json.JSONDecodeError as fault:
        return f"is not JSON: line {fault.lineno}, column {fault.colno}"
    except yaml.MarkedYAMLError as fault:
        mark = fault.problem_mark
        return (
            f"is not YAML: line {mark.line + 1}, column {mark.column + 1}"
            if mark
            else "is not YAML"
        )
    except yaml.YAMLError:
        return "is not YAML"
    return None
