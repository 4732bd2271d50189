# SPDX-License-Identifier: Apache-2.0
"""Find openstacksdk's configuration files that it skipped silently, and why.

openstacksdk looks for a cloud in the first readable file. It does not report errors of the files
before it. A cloud in a damaged file is therefore "not found".
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

from wirespeed.document.text_file import read_text_file
from wirespeed.model.input.bounded import load_json


def skipped_files() -> Iterator[str]:
    """Yield a sentence for each existing file that cannot be used.

    No sentence quotes the file: a password may be the text that makes it unreadable.
    """
    from openstack.config.loader import CONFIG_FILES, SECURE_FILES

    named = [os.environ.get(f"OS_CLIENT_{kind}_FILE", "") for kind in ("CONFIG", "SECURE")]
    for name in (*named, *CONFIG_FILES, *SECURE_FILES):
        if name and os.path.exists(name) and (why := _fault(Path(name))):
            yield f"{name} {why}"


def _fault(path: Path) -> str | None:
    import yaml

    try:
        text = read_text_file(path)
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
