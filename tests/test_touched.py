"""Which long tests a change calls for."""

from __future__ import annotations

import pytest

from tests.touched import EVERYTHING, changed_since, make_each, targets

DESKS = ("find", "live")


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        (["docs/live.md", "README.md"], []),
        (["reviewer/ui/static/find/rows.js"], ["browser-all", "BROWSER_TESTS=tests/browser/find"]),
        (
            ["reviewer/ui/static/find/rows.js", "reviewer/live/run.py", "docs/live.md"],
            ["long", "browser-all", "BROWSER_TESTS=tests/browser/find tests/browser/live"],
        ),
        (["reviewer/ui/static/find/rows.js", "reviewer/ui/static/common/keys.js"], ["browser-all"]),
        (["training/sft.py", "tests/training/test_run.py"], ["long", "test-models"]),
        (["docs/live.md", "reviewer/store/reviews.py"], [*EVERYTHING]),
        (["agent/loop.py"], [*EVERYTHING]),
        (["agent/locale/zh/program.po"], ["browser-all"]),
    ],
)
def test_a_change_calls_for_the_long_tests_that_it_can_touch(files: list[str], expected: list[str]) -> None:
    assert targets(files, DESKS) == expected


def test_a_commit_is_compared_with_itself_and_an_unknown_base_is_no_base() -> None:
    assert changed_since("HEAD") == []
    assert changed_since("no-such-commit") is None


def test_targets_are_made_with_the_variables_until_one_fails() -> None:
    made: list[list[str]] = []

    def make(line: list[str]) -> int:
        made.append(line)
        return 2 if line[0] == "browser-all" else 0

    assert make_each([*EVERYTHING, "BROWSER_TESTS=a b"], lambda: True, make) == 2
    assert made == [["long", "BROWSER_TESTS=a b"], ["browser-all", "BROWSER_TESTS=a b"]]


def test_targets_that_may_not_begin_any_more_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    made: list[list[str]] = []

    def make(line: list[str]) -> int:
        made.append(line)
        return 0

    assert make_each(EVERYTHING, lambda: not made, make) == 0
    assert made == [["long"]]
    assert [line.partition(":")[0] for line in capsys.readouterr().err.splitlines()] == ["browser-all", "test-models"]
