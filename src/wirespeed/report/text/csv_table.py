# SPDX-License-Identifier: Apache-2.0
"""Write the results of a run as CSV."""

from __future__ import annotations

import csv
import io

from wirespeed.report.text.columns import COLUMNS
from wirespeed.report.views.figures import figures_by_placement
from wirespeed.store.records import RunRecord


def csv_text(run: RunRecord) -> str:
    """Return one line for each point, then one for each other placement of its polling CPUs.

    An empty field means that the rate does not exist. An NDR or PDR without an upper end is a lower
    bound: no load above it failed.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(column.name for column in COLUMNS if column.csv is not None)
    for point in run.points:
        for figures in figures_by_placement(point):
            writer.writerow(column.csv(figures) for column in COLUMNS if column.csv is not None)
    return out.getvalue()
