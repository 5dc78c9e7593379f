"""The documents agree with the program: links, commands, options, keys and file names."""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path

import pytest

import app
from reviewer.rules.workflow import ROUNDS, VERBS

ROOT = Path(__file__).resolve().parents[1]
STATIC = ROOT / "reviewer" / "ui" / "static"
DOCUMENTS = [ROOT / "README.md", ROOT / "SECURITY.md", *sorted((ROOT / "docs").rglob("*.md"))]
ALL = "\n".join(path.read_text(encoding="utf-8") for path in DOCUMENTS)


def commands() -> dict[str, argparse.ArgumentParser]:
    return within(app.parser())


def within(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """The commands of a program, or of a command that has some."""
    sub = next((a for a in parser._actions if isinstance(a, argparse._SubParsersAction)), None)
    return {} if sub is None else dict(sub.choices)


_OURS = r"(?:agent|reviewer|training|tests|docs)"


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda p: p.name)
def test_every_file_that_a_document_links_to_or_names_exists(document: Path) -> None:
    text = document.read_text(encoding="utf-8")
    targets = re.findall(r"\]\((?!https?:)([^)#]+)", text)
    assert [target for target in targets if not (document.parent / target).exists()] == []
    named = set(re.findall(rf"`({_OURS}/[\w./-]*\w/?)`", text))
    # The app writes training/runs; it is not in the repository.
    assert [n for n in sorted(named) if not n.startswith("training/runs") and not (ROOT / n).exists()] == []


@pytest.mark.parametrize("name", commands())
def test_every_command_is_documented(name: str) -> None:
    assert f"spec-o3 {name}" in ALL


def test_every_command_that_the_documents_name_exists_with_its_options() -> None:
    known = commands()
    for name, rest in re.findall(r"spec-o3 ([a-z]+)([^\n`]*)", ALL):
        assert name in known, f"the documents name spec-o3 {name}"
        for option in re.findall(r"--[a-z-]+", rest):
            parsers = [known[name], *(sub for word, sub in within(known[name]).items() if word in rest.split())]
            assert any(option in parser._option_string_actions for parser in parsers), f"spec-o3 {name} {option}"


def test_every_module_that_the_documents_run_exists() -> None:
    # A study that has left the tree is named with the commit that has it.
    for module in re.findall(r"python -m ([a-z_.]+)(?![^`\n]*` of commit [0-9a-f]{8})", ALL):
        if module.startswith("verl."):  # a package that is not installed here
            continue
        path = ROOT / Path(*module.split("."))
        assert path.with_suffix(".py").exists() or (path / "__main__.py").exists(), module


def test_every_round_and_verb_is_explained_to_the_reviewer() -> None:
    text = (ROOT / "docs" / "reviewing.md").read_text(encoding="utf-8")
    assert [word for name in ROUNDS for word in (name, *VERBS[name]) if word not in text] == []


@pytest.mark.parametrize(
    ("desk", "guide"),
    [("review", "reviewing.md"), ("live", "live.md"), ("blind", "blind.md"), ("find", "team/finding.md")],
)
def test_each_key_has_one_action_and_a_description_and_the_guide_names_no_other(desk: str, guide: str) -> None:
    keymap = json.loads((STATIC / desk / "keymap.json").read_text(encoding="utf-8"))
    keys = [key for group in keymap["groups"] for key in group["keys"]]
    assert len({k["key"] for k in keys}) == len(keys)
    assert all(k["what"] and k["action"] for k in keys)
    # The keys of the spectrum are commands of its view.
    acts = "".join((STATIC / name).read_text(encoding="utf-8") for name in (f"{desk}/actions.js", "spectrum/view.js"))
    for key in keys:
        action = key["action"].removesuffix("-stay")
        known = f"'{action}'" in acts or re.search(rf"^ +{action}[:,]", acts, re.MULTILINE)
        assert known or action.startswith(("decide-", "digit-")), action
    text = (ROOT / "docs" / guide).read_text(encoding="utf-8")
    named = set(re.findall(r"`([A-Za-z0-9?/]|Esc|Enter|Del|Ctrl [A-Z])`", text))
    assert named <= {k.get("show", k["key"]) for k in keys}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda p: p.name)
def test_every_python_name_that_a_document_names_exists(document: Path) -> None:
    text = document.read_text(encoding="utf-8")
    for name in set(re.findall(rf"`({_OURS}(?:\.\w+)+)[`(]", text)):
        parts = name.split(".")
        if parts[-1] in ("md", "toml", "py", "json", "csv"):
            continue
        path = ROOT
        while parts and ((path / parts[0]).is_dir() or (path / f"{parts[0]}.py").is_file()):
            path = path / parts.pop(0)
        file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
        if parts:
            assert re.search(rf"\b{parts[0]}\b", file.read_text(encoding="utf-8")), f"{document.name} names {name}"


def test_the_readme_and_the_page_about_contributing_are_short() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) < 120
    text = (ROOT / "docs" / "design" / "contributing.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 60
    for what in ("a survey reader", "a task", "a key", "a statistic of the blind report", "a training setting"):
        assert f"| {what}" in text, what
