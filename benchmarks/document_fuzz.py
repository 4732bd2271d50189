# SPDX-License-Identifier: Apache-2.0
"""Put every hostile text into every text of the example documents, and judge what follows.

Prints one line for each kind of document: its leaves, the pairs of leaf and text tried and
accepted, the documents read, the files rendered from them, the scripts executed and the hits. The
first hit ends it with its place. WIRESPEED_EXHAUSTIVE=0 selects the short form of the tests.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from tests.support.document_fuzz import Fuzz, subjects

COLUMNS = ("leaves", "tried", "accepted", "documents", "renders", "executions")


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        fuzz = Fuzz(Path(folder), os.environ.get("WIRESPEED_EXHAUSTIVE") != "0")
        hit = ""
        for subject in subjects(Path(folder)):
            print(f"{subject.kind} {subject.name} ...", file=sys.stderr, flush=True)
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
