"""docs/measurements.md and docs/trust/measurements.md have the numbers of docs/measurements.json; a run resumes."""

from pathlib import Path

import pytest

from tests.benchmarks.__main__ import KEPT, ORDER, Section, measured
from tests.benchmarks.results import DOCUMENT, document, kept, markdown
from tests.benchmarks.trust.pages import HEADINGS, PAGE, blocks_of, section, tables, with_tables

TEXT = PAGE.read_text(encoding="utf-8")
AGAIN = "python -m tests.benchmarks.trust.pages to-page (or from-page)"


def test_the_document_is_made_from_the_results() -> None:
    assert DOCUMENT.read_text(encoding="utf-8") == document(ORDER)


@pytest.mark.parametrize("name", HEADINGS)
def test_the_tables_of_the_trust_page_are_those_of_the_results(name: str) -> None:
    found = kept(name)
    if found is None:
        pytest.skip("not measured")
    assert tables(section(TEXT, HEADINGS[name])) == tables(markdown(found["blocks"])), AGAIN


def test_the_numbers_of_trials_on_the_trust_page_are_those_of_the_results() -> None:
    found = kept("trust-trial")
    assert found is not None
    measured_cells = {cell for one in tables(markdown(found["blocks"])) for cell in one.split(" | ")}
    shown = [cell for one in tables(section(TEXT, "Evidence on trial")) for cell in one.split(" | ") if " to " in cell]
    assert len(shown) > 60
    assert [cell for cell in shown if cell.removesuffix(" |").split(" |\n")[0] not in measured_cells] == []


def test_tables_go_from_the_page_to_results_and_back() -> None:
    heading = HEADINGS["trust-annotators"]
    blocks = blocks_of(section(TEXT, heading))
    changed = [{**one, "rows": one["rows"][:1]} if "rows" in one else one for one in blocks]
    shorter = with_tables(TEXT, heading, changed)
    assert shorter != TEXT
    assert with_tables(shorter, heading, blocks) == TEXT
    with pytest.raises(ValueError, match="found 3 tables, expected 1"):
        with_tables(TEXT, heading, changed[:2])


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
