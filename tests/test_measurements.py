"""docs/measurements.md has the numbers of docs/measurements.json; a run resumes."""

from pathlib import Path

from tests.benchmarks.__main__ import KEPT, ORDER, Section, measured
from tests.benchmarks.results import DOCUMENT, document


def test_the_document_is_made_from_the_results() -> None:
    assert DOCUMENT.read_text(encoding="utf-8") == document(ORDER)


def test_a_run_resumes_with_what_is_kept(tmp_path: Path) -> None:
    script = (
        "import sys, pathlib; from tests.benchmarks.results import Results; parts = pathlib.Path(sys.argv[1])\n"
        "first = not parts.exists(); parts.touch()\n"
        "if first: sys.exit('ended')\n"
        "Results().text('resumed')"
    )
    one = Section("made-up", "Made up", "", ("-c", script, KEPT))
    ended = measured(one, None, tmp_path)
    assert "ended" in ended["blocks"][0]["text"]
    done = measured(one, None, tmp_path)
    assert done["blocks"] == [{"text": "resumed"}]
    broken = Section("made-up", "Made up", "", ("-c", "raise SystemExit(1)"))
    assert measured(broken, None, tmp_path) == done
