# SPDX-License-Identifier: Apache-2.0
"""Write a bracket and the rates of all time in a few words."""

from __future__ import annotations

from wirespeed.model.result.result import AsIs, Bracket, Interval, SearchResult, lower_fps
from wirespeed.model.words import mpps, share, two_digits


def loss_range(found: AsIs) -> str:
    """Return what whole trials lost: "nothing", "12%", "9.0 to 35%"."""
    low, high = share(found.loss_low or 0.0), share(found.loss_high or 0.0)
    if not found.loss_high:
        return "nothing"
    return high if low == high else f"{low.removesuffix('%')} to {high}"


def loss_load(result: SearchResult) -> str | None:
    """Return the load of the loss range in words; None where it is the NDR.

    A point of grade D has a range at the load that was refuted as its NDR.
    """
    if lower_fps(result.ndr) is not None or result.as_is is None:
        return None
    return "that load" if result.constant is not None else f"{mpps(result.as_is.load_fps)} Mpps"


def lossless(result: SearchResult) -> float | None:
    """Return the highest load without loss; None where bracket or rate say the same already."""
    found = result.as_is
    if found is None or found.lossless_fps is None:
        return None
    if result.bracket is not None and result.bracket.carried_fps == found.lossless_fps:
        return None
    if found.loss_high == 0 and found.load_fps is not None:
        return found.lossless_fps if found.lossless_fps > found.load_fps else None
    return found.lossless_fps


def bracket_words(bracket: Bracket) -> str:
    """Format a range in Mpps: "at least 4.900, at most 8.250", or one of the two."""
    carried, overloads = bracket.carried_fps, bracket.overloads_fps
    ends = [f"at least {mpps(carried)}"] if carried is not None else []
    if overloads is not None:
        ends.append(f"at most {mpps(overloads)}")
    return ", ".join(ends) or "unknown"


def ndr_words(result: SearchResult) -> str | None:
    """Write the NDR, or the bracket of a point of grade D, in Mpps; None where neither is known.

    It is "below 8.250" where not even the lowest load passed.
    """
    within, ndr = result.bracket, result.ndr
    if within is not None:
        return None if within == Bracket(None, None) else bracket_words(within)
    if ndr is not None and ndr.lower is None and ndr.upper is not None:
        return f"below {mpps(ndr.upper.load_fps)}"
    return bound_words(ndr) if ndr is not None else None


def mrr_words(result: SearchResult) -> str | None:
    """Format the MRR in Mpps; None without one.

    Its error stands next to it where it is below the NDR, or below an end of the bracket: "2.463 +-
    18%".
    """
    mrr_fps, within, error = result.mrr_fps, result.bracket, result.mrr_half_interval
    if mrr_fps is None:
        return None
    ends = (within.carried_fps, within.overloads_fps) if within else (lower_fps(result.ndr),)
    if not error or mrr_fps >= max(end or 0.0 for end in ends):
        return mpps(mrr_fps)
    return f"{mpps(mrr_fps)} \N{PLUS-MINUS SIGN} {two_digits(error)}"


def bound_words(interval: Interval) -> str | None:
    """Format a searched rate in Mpps: "4.900", or "at least 4.900" as a lower bound.

    A rate is a lower bound where no load above it failed. None where no load passed.
    """
    if interval.lower is None:
        return None
    rate = mpps(interval.lower.load_fps)
    return rate if interval.upper is not None else f"at least {rate}"
