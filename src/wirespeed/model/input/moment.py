# SPDX-License-Identifier: Apache-2.0
"""Check a time stamp from another host: ISO 8601 with a time zone, and not in the future."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

TOLERANCE = timedelta(minutes=5)
"""Largest accepted difference between the clocks of a host and its controller."""


def utc_now() -> str:
    """Return the current time in ISO 8601 with milliseconds, in UTC."""
    return written(datetime.now(UTC))


def written(moment: datetime) -> str:
    """Return a time stamp in the format of wirespeed's documents; texts sort by time."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds")


def moment_fault(text: str, now: datetime) -> str | None:
    """Return the error of a time stamp; None if it is valid. now: the reader's clock."""
    try:
        moment = datetime.fromisoformat(text)
        same = written(moment) == text
    except (ValueError, OverflowError):
        return f"{text[:40]!r} is no time of ISO 8601 in UTC with milliseconds"
    if not same:
        return f"{text[:40]!r} is not as wirespeed writes it: ISO 8601 in UTC with milliseconds"
    if moment > now + TOLERANCE:
        ahead_s = (moment - now).total_seconds()
        return (
            f"{text} is {ahead_s:.0f} s ahead of this machine's clock; more than "
            f"{TOLERANCE.total_seconds():.0f} s are refused: set the clocks (chrony)"
        )
    return None
