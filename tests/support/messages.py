"""The messages of the code and the catalogues that translate them; ``make messages`` runs this module.

A message is the literal first argument of ``tr``, ``trn``, ``deferred`` (Python), ``t`` or ``tn`` (JavaScript), or a
text of a keymap, the name of a band of the sky, or the title of a plane of a task.
"""

from __future__ import annotations

import ast
import io
import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from babel.messages.catalog import Catalog, Message
from babel.messages.pofile import read_po, write_po

from agent.language import LOCALE, NAMES, Part

ROOT = Path(__file__).resolve().parents[2]
PROGRAM: Mapping[str, tuple[int, ...]] = {
    "tr": (0,),
    "trn": (0, 1),
    "deferred": (0,),
    "deferredn": (0, 1),
    # Commands and their options, with their help.
    "Command": (1,),
    "option": (0,),
    "argument": (0,),
}
"""The functions, and the places of the arguments that are messages."""
PARTS: tuple[Part, ...] = ("program", "page")
STATIC = "reviewer/ui/static/"
WIDTH = 120

Id = str | tuple[str, ...]


def files(*endings: str) -> list[str]:
    """Files of the product, by their path in the repository."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "app.py", "agent", "reviewer", "training"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return sorted(name for name in listed.stdout.splitlines() if name.endswith(endings) and (ROOT / name).is_file())


def messages_of(name: str) -> Iterator[Id]:
    """The messages of one file, in their order; one with plural forms is a tuple."""
    if name.endswith("keymap.json"):
        for group in json.loads((ROOT / name).read_text(encoding="utf-8"))["groups"]:
            yield group["title"]
            yield from (entry["what"] for entry in group["keys"])
        return
    if name.endswith(".toml"):
        data = tomllib.loads((ROOT / name).read_text(encoding="utf-8"))
        bands = [
            *data.get("band", []),
            *(join for survey in data.get("survey", []) for join in survey.get("arm_join", [])),
        ]
        yield from (band["name"] for band in bands)
        yield from (plane["title"] for plane in data.get("plane", []))
        return
    if name.endswith(".py"):
        yield from _of_python(ast.parse((ROOT / name).read_text(encoding="utf-8")))
        return
    yield from _of_javascript((ROOT / name).read_text(encoding="utf-8"))


_CALL = re.compile(r"(?<![\w.$'\"`])(tn?)\(\s*(?=['\"`])")
_STRING = re.compile(r"""'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\$]|\\.)*)`""")
_COMMENT = re.compile(r"^\s*(//|\*|/\*)")


def _of_javascript(text: str) -> Iterator[Id]:
    """The messages of a module, in order. Babel's own extractor sees no call inside the arguments of another, or in a
    template."""
    for call in _CALL.finditer(text):
        if _COMMENT.match(text, text.rfind("\n", 0, call.start()) + 1):
            continue
        one, at = _literal(text, call.end())
        if call[1] == "t":
            yield one
        else:
            comma = re.compile(r"\s*,\s*").match(text, at)
            assert comma is not None, f"expected two literals in {text[call.start() : call.start() + 80]!r}"
            yield one, _literal(text, comma.end())[0]


def _literal(text: str, at: int) -> tuple[str, int]:
    """A literal, or several that are joined by ``+``, and where it ends."""
    parts = []
    plus = re.compile(r"\s*\+\s*(?=['\"`])")
    while True:
        found = _STRING.match(text, at)
        assert found is not None, f"expected a literal in {text[at : at + 80]!r}"
        inside = next(group for group in found.groups() if group is not None)
        parts.append(re.sub(r"\\(.)", lambda one: {"n": "\n", "t": "\t"}.get(one[1], one[1]), inside))
        more = plus.match(text, found.end())
        if more is None:
            return "".join(parts), found.end()
        at = more.end()


def _of_python(tree: ast.AST) -> Iterator[Id]:
    """The messages of a module, in order. Babel's own extractor sees none inside an f-string before Python 3.12."""
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    for call in sorted(calls, key=lambda one: (one.lineno, one.col_offset)):
        name = call.func.id if isinstance(call.func, ast.Name) else ""
        places = PROGRAM.get(name, ())
        texts = [call.args[place] for place in places if place < len(call.args)]
        literals = [text.value for text in texts if isinstance(text, ast.Constant) and isinstance(text.value, str)]
        if literals and len(literals) == len(places):
            yield literals[0] if len(literals) == 1 else tuple(literals)


def extracted(part: Part) -> Mapping[Id, list[str]]:
    """All messages of a part, each with the files that have it."""
    found: dict[Id, list[str]] = {}
    if part == "page":
        names = files(".js", "keymap.json")
    else:
        tables = ("agent/lines/sky.toml", "agent/lines/surveys.toml", "agent/tasks/")
        names = [*files(".py"), *(name for name in files(".toml") if name.startswith(tables))]
    for name in names:
        for message in messages_of(name):
            where = found.setdefault(message, [])
            if name not in where:
                where.append(name)
    return found


def read(code: str, part: Part) -> Catalog:
    path = LOCALE / code / f"{part}.po"
    if not path.is_file():
        return Catalog(locale=code)
    with path.open("rb") as file:
        return read_po(file, locale=code)


def updated(code: str, part: Part) -> bytes:
    """The catalogue with all messages of the code: translations are kept, messages that are gone are left out."""
    old = read(code, part)
    new = Catalog(locale=code, project="spec-o3", charset="utf-8", fuzzy=False, header_comment="")
    for message, where in extracted(part).items():
        known = old.get(message if isinstance(message, str) else message[0])
        forms = known.string if known else ""
        if isinstance(message, tuple) and isinstance(forms, str):
            forms = (forms,)
        elif isinstance(message, str) and not isinstance(forms, str):
            forms = forms[0]
        new.add(message, forms, locations=[(where[0], None)])
    out = io.BytesIO()
    # By file: a change of the code changes its own lines of the catalogue. No line numbers, for the same reason.
    write_po(out, new, width=WIDTH, omit_header=True, sort_by_file=False, include_lineno=False)
    return HEADER.format(plural=old.plural_forms.removesuffix(";"), code=code).encode() + out.getvalue()


HEADER = """# The terms are in docs/team/translating.md. Run `make messages` after a change of the code.
msgid ""
msgstr ""
"Content-Type: text/plain; charset=utf-8\\n"
"Language: {code}\\n"
"Plural-Forms: {plural};\\n"

"""


def is_missing(entry: Message) -> bool:
    """Whether a message of a catalogue is shown in English: it has no translation, or one that is only a guess."""
    forms = (entry.string,) if isinstance(entry.string, str) else tuple(entry.string or ())
    return entry.fuzzy or not forms or not all(forms)


def main(arguments: Sequence[str]) -> int:
    """Update all catalogues and list what is left to translate.

    With ``--check``, for a release, nothing is written, and the exit status is 1 where a catalogue is not that of the
    code or a message has no translation.
    """
    check, failed = "--check" in arguments, False
    for code in NAMES:
        if code == "en":
            continue
        number, missing = 0, []
        for part in PARTS:
            path = LOCALE / code / f"{part}.po"
            text = updated(code, part)
            if check and not (path.is_file() and path.read_bytes() == text):
                print(f"{path.relative_to(ROOT)}: not that of the code; run make messages")
                failed = True
            elif not check:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(text)
            entries = [entry for entry in read_po(io.BytesIO(text), locale=code) if entry.id]
            number += len(entries)
            missing += [entry for entry in entries if is_missing(entry)]
        for entry in missing:
            key = entry.id if isinstance(entry.id, str) else entry.id[0]
            print(f"no translation: {key!r} ({entry.locations[0][0]})")
        print(f"{code}: {number} messages, {len(missing)} without translation")
        failed = failed or bool(missing)
    return int(check and failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
