# SPDX-License-Identifier: Apache-2.0
"""Write completion for bash, zsh and fish: static words, so that no program starts for a Tab."""

from __future__ import annotations

from collections.abc import Mapping

from wirespeed.cli.reference.tree import Entry, entries
from wirespeed.study.shipped import shipped_names

_STUDY = "STUDY"


def completions() -> Mapping[str, str]:
    """Return each shell's script by the name of its file."""
    known = tuple(entries())
    return {
        "wirespeed.bash": _BASH.replace("CASES", _cases(known)),
        "_wirespeed": _ZSH.replace("CASES", _cases(known)),
        "wirespeed.fish": _fish(known),
    }


def _words(entry: Entry) -> list[str]:
    """Return the words that may follow the command's own."""
    studies = shipped_names() if any(_STUDY in (a.metavar or "") for a in entry.arguments) else ()
    long = [name for option in entry.options for name in option.opts if name.startswith("--")]
    return [*entry.inner, *studies, *long, "--help"]


def _cases(known: tuple[Entry, ...]) -> str:
    return "\n".join(f"    '{each.path}') words='{' '.join(_words(each))}' ;;" for each in known)


# The command is the longest sequence of words that has an entry.
_TABLE = """_wirespeed_words() {
  case "$1" in
CASES
    *) return 1 ;;
  esac
}
"""
_BASH = (
    _TABLE
    + """_wirespeed() {
  local command=wirespeed words= i
  for ((i = 1; i < COMP_CWORD; i++)); do
    _wirespeed_words "$command ${COMP_WORDS[i]}" || break
    command="$command ${COMP_WORDS[i]}"
  done
  _wirespeed_words "$command"
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "${COMP_WORDS[COMP_CWORD]}")
}
complete -o default -o bashdefault -F _wirespeed wirespeed
"""
)
# `words` is the line in zsh's completion; the table sets its local namesake.
_ZSH = (
    "#compdef wirespeed\n"
    + _TABLE
    + """_wirespeed() {
  local -a typed=("${words[@]}") found
  local command=wirespeed words= i
  for ((i = 2; i < CURRENT; i++)); do
    _wirespeed_words "$command ${typed[i]}" || break
    command="$command ${typed[i]}"
  done
  _wirespeed_words "$command"
  found=(${=words})
  compadd -a found
  _files
}
compdef _wirespeed wirespeed
"""
)


def _fish(known: tuple[Entry, ...]) -> str:
    """Return one line a word, valid where the words of its command are on the line."""
    lines = ["# Commands and options of wirespeed."]
    for each in known:
        seen = [f"__fish_seen_subcommand_from {word}" for word in each.words[1:]]
        if each.inner:
            seen.append(f"not __fish_seen_subcommand_from {' '.join(each.inner)}")
        condition = "; and ".join(seen)
        for word in _words(each):
            form = f"-l {word[2:]}" if word.startswith("--") else f"-a {word}"
            lines.append(f"complete -c wirespeed -n '{condition}' {form}")
    return "\n".join(lines) + "\n"
