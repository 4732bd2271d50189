# SPDX-License-Identifier: Apache-2.0
"""Does any text of any document run or become a second value in what follows from the document?

Each text of each example gets each hostile text in turn. Lines: a kind of document with its leaves,
the documents tried, those accepted, the files rendered of these, the scripts executed and the hits.
The first hit ends it with its place. WIRESPEED_EXHAUSTIVE=1: every leaf with every hostile text;
else one of the leaves that differ in an index alone, with the three nastiest.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from tests.document.fuzz import Fuzz, subjects

COLUMNS = ("leaves", "tried", "accepted", "renders", "executions")


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        fuzz = Fuzz(Path(folder), os.environ.get("WIRESPEED_EXHAUSTIVE") == "1")
        hit = ""
        for subject in subjects(Path(folder)):
            try:
                fuzz.run(subject)
            except AssertionError as found:
                hit = f"{subject.kind} {subject.name}: {found}"
                break
    print(f"{'kind':14}" + "".join(f"{name:>12}" for name in (*COLUMNS, "hits")))
    for kind, counts in fuzz.counts.items():
        hits = int(hit.startswith(f"{kind} "))
        print(f"{kind:14}" + "".join(f"{n:12}" for n in (*map(counts.__getitem__, COLUMNS), hits)))
    if hit:
        print(hit)
    return 1 if hit else 0


if __name__ == "__main__":
    sys.exit(main())
