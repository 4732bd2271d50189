# SPDX-License-Identifier: Apache-2.0
"""Print the path of a point's frames on a terminal."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from wirespeed.cli.console import Text
from wirespeed.model.words import loss as loss_words
from wirespeed.model.words import mpps, percent, seconds
from wirespeed.report.text.path import Hop, Link, Loss, PathView, queue_words

# Columns of the bar that stands for the offered load.
_BAR = 24


def print_path(view: PathView, console: Console) -> None:
    """Print hops from top to bottom, with rates and losses on the links between them."""
    console.print(
        Text(
            f"Path at {mpps(view.load_fps)} Mpps (trial {view.trial}, "
            f"{seconds(view.duration_s)}, noisy time included)"
        ),
        style="bold",
    )
    grid = Table.grid(padding=(0, 1))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for position, hop in enumerate(view.hops):
        _add_hop(grid, hop, position, last=position == len(view.hops) - 1)
        if position < len(view.links):
            _add_link(grid, view.links[position])
    console.print(grid)
    for sentence in queue_words(view):
        console.print(Text(sentence))


def _add_hop(grid: Table, hop: Hop, position: int, *, last: bool) -> None:
    corner = "└" if last else "├" if position else "┌"
    name = Text.assemble((hop.name, "bold"), (f"  {hop.what}" if hop.what else "", "dim"))
    grid.add_row(corner, name)
    for loss in hop.losses:
        grid.add_row(" " if last else "│", _loss(loss))


def _add_link(grid: Table, link: Link) -> None:
    full = round(_BAR * min(1.0, link.share))
    bar = "█" * full + "░" * (_BAR - full)
    together = f"  all {link.streams} streams" if link.streams > 1 else ""
    words = f" {mpps(link.fps):>6} Mpps {percent(link.share):>6}  {link.ends[1]}{together}"
    grid.add_row("│", Text.assemble((bar, "cyan"), words))
    for loss in link.losses:
        grid.add_row("│", _loss(loss))


def _loss(loss: Loss) -> Text:
    share = loss_words(loss.share)
    what = f"{mpps(loss.fps)} Mpps lost ({share}): {loss.cause}, {loss.frames:,} frames"
    return Text(f"\N{MULTIPLICATION SIGN} {what}", style="red")
