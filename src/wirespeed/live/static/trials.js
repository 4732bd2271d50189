// SPDX-License-Identifier: Apache-2.0
// The trials of a run: from the mark before one to the mark of its verdict, with what its gate
// excluded. The recorder of a run writes these marks.
"use strict";

const JUDGED = ": judged";
const NO_TRIALS = [];
const trialsByMarks = new WeakMap();

// Return { begin, end, text, gate, placement } in the order of time; end is Infinity for one that
// runs; gate is "" where all of it counts, placement where it is not known.
function trialsOf(marks) {
  if (!marks.length) return NO_TRIALS;
  if (trialsByMarks.has(marks)) return trialsByMarks.get(marks);
  const found = [];
  let open = null;
  for (const [at, kind, text] of marks) {
    const judged = kind === "trial" ? text.indexOf(JUDGED) : -1;
    if (judged >= 0) {
      if (open !== null) {
        open.end = at;
        open.placement = text.slice(judged + JUDGED.length).replace("; ", "");
      }
      open = null;
    } else if (kind === "trial") {
      open = { begin: at, end: Infinity, text, gate: "", placement: "" };
      found.push(open);
    } else if (kind === "gate" && found.length) {
      found[found.length - 1].gate = text;
    }
  }
  trialsByMarks.set(marks, found);
  return found;
}

function trialAt(trials, t) {
  return trials.findLast(({ begin, end }) => begin <= t && t <= end) ?? null;
}

function trialWords(trial) {
  if (trial === null) return "no trial at this time";
  const gate = trial.gate || (trial.end === Infinity ? "not judged yet" : "all of it counts");
  return `trial: ${trial.text}; ${gate}${trial.placement && `; ${trial.placement}`}`;
}

// Draw a bar for each trial at the upper edge: filled where its gate excluded something.
function drawTrials(context, trials, x, width) {
  for (const { begin, end, gate } of trials) {
    const from = Math.max(0, x(begin)), to = Math.min(width, x(end));
    if (to < 0 || from > width) continue;
    context.fillStyle = colour(gate ? "goal" : "muted");
    context.globalAlpha = gate ? 1 : 0.5;
    context.fillRect(from, 0, Math.max(1, to - from - 1), gate ? 6 : 2);
  }
  context.globalAlpha = 1;
}
