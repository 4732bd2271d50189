# SPDX-License-Identifier: Apache-2.0
"""Find the longest burst at full rate without loss, and the buffer that it implies.

RFC 9004, https://www.rfc-editor.org/rfc/rfc9004: section 6.2 searches the longest burst, 6.3
repeats the search, 6.4 corrects the buffer time for the frames that leave while the burst arrives.
Only meaningful where the throughput is below the rate of the burst (section 5.2): otherwise the
buffer never fills.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from statistics import mean

from wirespeed.measure.prober import BeyondGenerator, NotMeasurable, OutOfTime, Prober
from wirespeed.measure.search.interface import Figures, Limits
from wirespeed.measure.search.mlr import Mlr
from wirespeed.model.result.result import BackToBack
from wirespeed.model.result.trial import Stage

FIRST_GUESS_FRAMES = 1024


@dataclass(frozen=True, slots=True)
class B2b:
    """Parameters of the search. Times in seconds."""

    throughput: Mlr
    """Search of the rate that the correction needs."""
    searches: int
    """Repetitions of the search for the longest burst."""
    longest_burst_s: float
    width: float
    """Stop when the bounds are this close, relative to the upper one, or one frame apart."""
    repeats: int
    """Repetitions of a burst with noise: a burst is too short to exclude time. One with noise each
    time counts unchanged.
    """

    @property
    def conformant(self) -> bool:
        # The throughput behind the correction comes from short trials.
        return False

    @property
    def expected_s(self) -> float:
        return self.throughput.expected_s

    def find(self, prober: Prober, limits: Limits) -> Figures:
        throughput = replace(self.throughput.find(prober, limits), pdr=None)
        ndr = throughput.ndr
        assert ndr is not None
        if ndr.lower is None or ndr.upper is None:
            which = "no load passes" if ndr.lower is None else "the SUT keeps up with"
            note = f"no back-to-back burst: {which} {limits.max_fps:,.0f} frames/s"
            return replace(throughput, notes=(*throughput.notes, note))
        bursts: list[int] = []
        notes: tuple[str, ...] = ()
        try:
            while len(bursts) < self.searches:
                guess = bursts[-1] if bursts else FIRST_GUESS_FRAMES
                longest = self._longest(prober, limits.max_fps, guess)
                if longest is None:
                    note = f"no back-to-back burst: {self.longest_burst_s:g} s pass without loss"
                    return replace(throughput, notes=(*throughput.notes, note))
                bursts.append(longest)
        except (OutOfTime, NotMeasurable, BeyondGenerator) as ended:
            notes = (f"{len(bursts)} of {self.searches} back-to-back searches: {ended.what}",)
        ports = max((len(t.observation.directions) for t in prober.trials), default=1)
        found = _corrected(bursts, limits, ndr.lower.load_fps, ports) if bursts else None
        return replace(throughput, back_to_back=found, notes=(*throughput.notes, *notes))

    def _longest(self, prober: Prober, load_fps: float, guess: int) -> int | None:
        """Return the longest burst that passed, in frames; 0 where not one frame does.

        None where even the longest allowed passes. guess: start of the search.
        """
        low, high = 0, max(1, guess)
        while self._passes(prober, load_fps, high):
            if high / load_fps >= self.longest_burst_s:
                return None
            low, high = high, 2 * high
        while high - low > max(1, self.width * high):
            middle = (low + high) // 2
            if self._passes(prober, load_fps, middle):
                low = middle
            else:
                high = middle
        return low

    def _passes(self, prober: Prober, load_fps: float, frames: int) -> bool:
        for _ in range(1 + self.repeats):
            prober.check_time()
            trial = prober.usable(load_fps, frames / load_fps, Stage.BURST)
            undisturbed = trial.gated is not None and trial.gated.clean_share == 1.0
            if undisturbed or trial.lost == 0:
                break
        return trial.lost == 0


def _corrected(bursts: list[int], limits: Limits, throughput_fps: float, ports: int) -> BackToBack:
    """Return the result of one port (RFC 9004). bursts: frames over all ports that send."""
    average = mean(bursts) / ports
    return BackToBack(
        load_fps=limits.max_fps,
        mean_frames=average,
        min_frames=min(bursts) // ports,
        max_frames=max(bursts) // ports,
        bursts=len(bursts),
        buffer_s=average * ports / limits.max_fps * (1 - throughput_fps / limits.max_fps),
    )
