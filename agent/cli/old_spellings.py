"""Spellings of earlier releases, which go on working with a note until version 0.3."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agent.language import deferred, tr

LEAVES = "0.3"
"""The version without these spellings."""

_RESUMES = deferred("not needed: the same command continues")

RENAMED: Mapping[str, Mapping[str, str]] = {
    "": {"--database": "--db"},
    "sft": {"--output": "--out"},
    "grpo": {"--output": "--out"},
    "bench": {"--output": "--out", "--limit": "--per-task", "--limit-seed": "--per-task-seed"},
    "bench build": {"--output": "--out", "--snr-min": "--min-snr"},
    "specialist train": {"--output": "--out"},
    "specialist predict": {"--output": "--out"},
    "model push": {"--output": "--out"},
    "miniature": {"--output": "--out"},
    "nano": {"--output": "--out"},
    "blind report": {"--output": "--out"},
    "tables": {"--to": "--out"},
    "export": {"--replace": "--overwrite"},
    "trial": {"--trial-seed": "--edit-seed"},
    "certify": {"--alpha-yes": "--error-yes", "--alpha-no": "--error-no", "--check": "--retest"},
    "draft": {"--snr-min": "--min-snr"},
    "annotations import": {"--person": "--author"},
    "annotations tasks": {"--address": "--app-url", "--state": "--states"},
    "blind power": {"--spectra": "--n-spectra", "--scorers": "--n-scorers", "--sources": "--n-sources"},
    "blind draw": {
        "--tasks": "--task",
        "--version": "--texts",
        "--margin": "--equivalence",
        "--snr-min": "--min-snr",
        "--snr-max": "--max-snr",
    },
}
"""The new name of an option by its old one, of a command; "": of every command."""

DROPPED: Mapping[str, Mapping[str, str]] = {"sft": {"--resume": _RESUMES}, "grpo": {"--resume": _RESUMES}}
"""Options that do nothing any more, and why."""

KEPT: Mapping[str, Mapping[str, str]] = {
    "inspect": {
        "--resume": _RESUMES,
        "--no-resume": deferred("now --overwrite, which deletes the results, or another --out"),
    },
    "export": {"--to": deferred("now --out, the folder of the export itself: PARENT/NAME")},
    "annotations tasks": {"--for": deferred("not needed: the tasks are those of Label Studio")},
}
"""Options that still have an effect and are hidden, and what is to be given instead."""

POSITIONALS: Mapping[str, str] = {"simulate": "out", "backup": "out", "annotations tasks": "out"}
"""Commands that took the place to write without ``--out`` before it."""


def respelled(command: str, argv: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the arguments of a command in the spelling of today, and a note for each that was not.

    :param command: its words, e.g. ``blind draw``
    """
    renamed = {**RENAMED[""], **RENAMED.get(command, {})}
    dropped, kept = DROPPED.get(command, {}), KEPT.get(command, {})
    today: list[str] = []
    notes: list[str] = []
    for place, text in enumerate(argv):
        if text == "--":
            return [*today, *argv[place:]], notes
        name, equals, value = text.partition("=")
        if name in dropped or name in kept:
            notes.append(noted(tr("{old}: {what}", old=name, what=tr(dropped.get(name) or kept[name]))))
        if name in renamed:
            notes.append(noted(tr("{old} is now {new}", old=name, new=renamed[name])))
        if name not in dropped:
            today.append(renamed.get(name, name) + equals + value)
    return today, notes


def noted(what: str) -> str:
    """Return a note about a spelling."""
    return tr("{what}; the old spelling leaves with version {version}", what=what, version=LEAVES)
