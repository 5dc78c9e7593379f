"""All commands together: their help, one meaning for each option, and the spellings of earlier releases."""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import app
from agent.cli import options
from agent.cli.old_spellings import DROPPED, KEPT, POSITIONALS, RENAMED, respelled
from agent.doctor import CAPABILITIES

NO_JSON = {"app", "completion", "mcp"}
"""Commands without a result."""
OTHER_VALUES = {"--adapter", "--from", "--out", "--items", "--dtype", "--states"}
"""Options whose values have several forms: names, a file or a folder, numbers or a range, of a list or any."""
FORBIDDEN = {"--output", "--to", "--database", "--replace", "--resume", "--no-resume", "--alpha-yes", "--limit-seed"}
LINES = 130
"""Longest help: that of ``inspect``."""


def leaves() -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """Every command that can run, by its words."""
    parsers = [("", app.parser())]
    while parsers:
        words, parser = parsers.pop()
        groups = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
        parsers += [(f"{words} {word}".strip(), sub) for group in groups for word, sub in group.choices.items()]
        if "quiet" in {action.dest for action in parser._actions}:
            yield words, parser


COMMANDS = dict(leaves())


def shown(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    left_out = (argparse._HelpAction, argparse._SubParsersAction)
    return (
        action for action in parser._actions if not isinstance(action, left_out) and action.help != argparse.SUPPRESS
    )


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_its_defaults(
    command: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as ended:
        app.main([*command.split(), "--help"])
    printed = capsys.readouterr().out
    assert (ended.value.code, list(tmp_path.iterdir())) == (0, [])
    assert printed.startswith(f"usage: spec-o3 {command}")
    assert len(printed.splitlines()) <= LINES
    parser = COMMANDS[command]
    assert parser.description
    assert ("--json" in parser._option_string_actions) == (command not in NO_JSON)
    for action in shown(parser):
        assert action.help, action.dest
        assert not FORBIDDEN & {*action.option_strings}
        if action.default not in (None, False, "", []) and action.nargs != 0:
            assert "default" in str(action.help), action.option_strings


def test_an_option_has_one_meaning() -> None:
    """The value of an option is named alike in every command, or it takes none in any."""
    kinds: dict[str, set[str]] = defaultdict(set)
    for parser in COMMANDS.values():
        for action in shown(parser):
            for name in action.option_strings:
                kinds[name].add("" if action.nargs == 0 else str(action.metavar or "choice"))
    assert {name: kind for name, kind in kinds.items() if len(kind) > 1 and name not in OTHER_VALUES} == {}


READERS: dict[str, tuple[str, dict[str, str]]] = {
    "existing_folder": ("DIR", {"nothing": "found nothing, expected a folder"}),
    "output_file": ("FILE", dict.fromkeys((".", "/", "a/.."), "found a folder, expected the name of a")),
    "output_folder": ("DIR", {"/": "found the root of a disk, expected a folder on it"}),
}


@pytest.mark.parametrize("reader", READERS)
def test_places_are_checked_when_the_options_are_read(reader: str) -> None:
    read: Callable[[str], Any] = getattr(options, reader)
    metavar, wrong = READERS[reader]
    for text, message in wrong.items():
        with pytest.raises(argparse.ArgumentTypeError, match=message):
            read(text)
    actions = [(command, action) for command, parser in COMMANDS.items() for action in shown(parser)]
    assert [command for command, action in actions if action.type is read and action.metavar != metavar] == []


def test_tasks_are_named_in_one_way() -> None:
    for command, parser in COMMANDS.items():
        known = parser._option_string_actions
        if "--task" in known and known["--task"].help.startswith("target class"):
            assert "--tasks" in known, f"{command} takes no task files"
        if "--tasks" in known:
            assert known["--tasks"].metavar == "DIR"


OLD = [(command, old, new) for command, names in RENAMED.items() if command for old, new in names.items()]


@pytest.mark.parametrize(("command", "old", "new"), OLD)
def test_an_old_spelling_is_read_as_the_new_one_with_a_note(command: str, old: str, new: str) -> None:
    known = COMMANDS[command]._option_string_actions
    assert new in known
    assert old not in known or known[old].help == argparse.SUPPRESS
    assert respelled(command, [old, "x", f"{old}=y", "--", old])[0] == [new, "x", f"{new}=y", "--", old]
    (note, *_) = respelled(command, [old])[1]
    assert note == f"{old} is now {new}; the old spelling leaves with version 0.3"


def test_the_other_old_spellings_name_commands_and_options_that_exist() -> None:
    for command in (*DROPPED, *KEPT, *POSITIONALS):
        assert command in COMMANDS
    for command, names in KEPT.items():
        for name in names:
            assert COMMANDS[command]._option_string_actions[name].help == argparse.SUPPRESS
            assert "0.3" in respelled(command, [name])[1][0]
    for command, names in DROPPED.items():
        for name in names:
            assert respelled(command, [name, "--json"]) == (["--json"], [respelled(command, [name])[1][0]])
    assert respelled("log", ["--database", "a.db"])[0] == ["--db", "a.db"]


def test_a_place_to_write_without_out_still_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert app.main(["simulate", "sky", "--task", "cv", "--n", "1"]) == 0
    printed = capsys.readouterr()
    assert "sky is now --out sky; the old spelling leaves with version 0.3" in printed.err
    assert (tmp_path / "sky" / "labels.csv").is_file()
    with pytest.raises(SystemExit):
        app.main(["simulate", "--n", "1"])
    assert "required: --out" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        app.main(["simulate", "a", "--out", "b"])
    assert "unrecognized arguments: a" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["model"], "found no command, expected one of card, push"),
        (["specialist", "foo"], "argument COMMAND: invalid choice: 'foo'"),
        (["log", "--fly"], "usage: spec-o3 log"),
        (["fly"], "invalid choice: 'fly'"),
    ],
)
def test_what_is_wrong_is_named_with_the_usage_of_its_command(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        app.main(words)
    assert ended.value.code == 2
    assert message in capsys.readouterr().err


def test_quiet_prints_json_and_errors_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert app.main(["simulate", "--out", "a", "--n", "1", "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")
    assert app.main(["simulate", "--out", "b", "--n", "1", "--quiet", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["spectra"] == 1
    assert app.main(["simulate", "--out", "a", "--n", "1", "--quiet"]) == 2
    assert "found files in it" in capsys.readouterr().err
    assert app.main(["simulate", "--out", "a", "--n", "1", "--verbose"]) == 2
    assert "Traceback" in capsys.readouterr().err


def test_doctor_lists_what_it_can_check_and_the_version_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        app.main(["doctor", "--help"])
    printed = " ".join(capsys.readouterr().out.split())
    assert all(name in printed for name in CAPABILITIES)
    assert app.main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("spec-o3 ")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_completes_commands_options_and_choices(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("shtab")
    assert app.main(["completion", shell]) == 0
    printed = capsys.readouterr().out
    for word in ("inspect", "overwrite", "vacuum", "giveaways"):
        assert word in printed
    assert "no-resume" not in printed
