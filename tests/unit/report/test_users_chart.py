# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.support.verb_app import verb_app
from wirespeed.cli.verbs.bng import curve
from wirespeed.model.errors import BadInput
from wirespeed.report.charts.shapes import LineStyle
from wirespeed.report.charts.users import cycles_chart

PRINTED = """
# 8192 routes, cycles of the TSC a frame beyond io
bng_up_hot_dense_users_1 20.5 cycles 1.0000x-of 1 user
bng_up_cold_dense_users_1 22 cycles 1.0000x-of 1 user
bng_up_hot_dense_users_1048576 1,055 cycles 51.4634x-of 1 user
bng_down_hot_dense_users_1024 17 cycles 1.0000x-of 1 user
lookup_rte_lpm_users_32768 9 cycles 1.0000x-rte_lpm
"""


def test_a_curve_for_each_direction_and_mode() -> None:
    chart = cycles_chart(PRINTED.splitlines())
    assert [label for _, label in chart.axis.ticks] == ["1", "1,024", "1,048,576"]
    curves = {(s.name, s.line): s.points for s in chart.curves}
    assert curves == {
        ("bng_up, dense keys", LineStyle.SOLID): ((0.0, 20.5), (2.0, 1055.0)),
        ("bng_up, dense keys", LineStyle.DASHED): ((0.0, 22.0),),
        ("bng_down, dense keys", LineStyle.SOLID): ((1.0, 17.0),),
    }
    up_hot, up_cold, down_hot = (series.colour for series in chart.curves)
    assert up_hot == up_cold != down_hot


def test_the_command_draws_it(tmp_path: Path) -> None:
    figures, drawing = tmp_path / "figures.txt", tmp_path / "curve.svg"
    figures.write_text(PRINTED)
    done = CliRunner().invoke(verb_app(curve), [str(figures), "-o", str(drawing)])
    assert (done.exit_code, done.output.strip()) == (0, str(drawing))
    assert "1,048,576" in drawing.read_text()


@pytest.mark.parametrize("text", ["", "lookup_rte_lpm_users_32768 9 cycles\n"])
def test_a_file_without_figures_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "x").write_text(text)
    done = CliRunner().invoke(verb_app(curve), [str(tmp_path / "x")])
    assert isinstance(done.exception, BadInput)
    assert "no rates by number of users" in done.exception.what
