"""The command for what a GPU shows, as far as a test has time for it: its whole run is ``--cpu``."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.benchmarks.models import gpu


def test_without_a_gpu_it_says_so(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu, "_gpu_name", lambda: "no GPU")
    assert gpu.main(["--budget", "1"]) == 2
    assert "found no CUDA GPU, expected one with 80 GB or more" in capsys.readouterr().out


def test_steps_give_their_rows_and_those_that_do_not_say_why(tiny_model: Path, tmp_path: Path) -> None:
    """``local`` runs with the tiny model, ``sft`` finds a damaged one, and the rest has no time."""
    place = gpu.Place(tmp_path, cpu=True)
    place.tiny.symlink_to(tiny_model)
    assert gpu.run_all(place, ["doctor", "local"], 600, 8.0)
    place.tiny.unlink()
    assert not gpu.run_all(place, ["sft"], 600)
    assert not gpu.run_all(place, ["starts", "grpo"], 1)
    rows = dict(line.strip("| ").split(" | ", 1) for line in gpu.table(place).splitlines() if line.startswith("| "))
    assert rows["`inspect --policy local`, tiny"].startswith("2 of 2 inspected in ")
    assert rows["`sft`"].startswith("**failed with status 1: sft: found exit status ")
    assert rows["`starts`"] == "**left out: 1 s of 1 were left, it needs 40**"
    assert rows["`serve`"] == "**not run**"
    assert "`doctor`" not in rows


def test_a_step_that_takes_too_long_is_stopped(tmp_path: Path) -> None:
    outcome = gpu._run(gpu.Step(gpu.tiny, 0, 1), gpu.Place(tmp_path, cpu=True), 0.1)
    assert outcome == "stopped after its limit of 0 s"


@pytest.mark.parametrize(
    ("first", "gap", "expected"),
    [
        ({"no_spread": 0.5, "grad_norm": 0.2}, 0.01, "0.01 (gradient norm 0.2, `no_spread` 0.5)"),
        ({"no_spread": 0.5, "grad_norm": 0.2}, 0.14, "found 0.14 .*, expected at most 0.05"),
        ({"no_spread": 1.0, "grad_norm": 0.2}, 0.01, "proves nothing"),
        ({"no_spread": 0.5, "grad_norm": 0.0}, 0.01, "proves nothing"),
    ],
)
def test_a_gap_counts_only_after_the_weights_changed(first: dict[str, float], gap: float, expected: str) -> None:
    rounds = [first, {"no_spread": 0.5, "grad_norm": 0.2, "vllm_gap": gap}]
    if expected.startswith("0"):
        assert gpu.verdict("3B", rounds)[1] == expected
        return
    with pytest.raises(SystemExit, match=expected):
        gpu.verdict("3B", rounds)


def test_the_table_takes_the_place_of_the_one_in_the_page(tmp_path: Path) -> None:
    page = tmp_path / "gpu.md"
    page.write_text(gpu.DOCUMENT.read_text("utf-8"), encoding="utf-8")
    gpu.write_document("| a | b |\n", page)
    gpu.write_document("| c | d |\n", page)
    text = page.read_text("utf-8")
    assert f"{gpu.MARKS[0]}\n| c | d |\n{gpu.MARKS[1]}\n\n## 27 November 2026" in text
    assert "| a | b |" not in text
