"""The tables of docs/trust/measurements.md and of docs/measurements.json: the same numbers in both.

    python -m tests.benchmarks.trust.pages to-page      put the kept results on the page (``make bench`` does it too)
    python -m tests.benchmarks.trust.pages from-page    keep the tables of the page, of runs made with their own command

The n-th table below a heading of the page is the n-th table of a section of the results.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence

from tests.benchmarks.results import DOCUMENT, Block, keep, kept, markdown, write_document

PAGE = DOCUMENT.parent / "trust" / "measurements.md"
HEADINGS = {
    "trust-campaigns": "Simulated campaigns",
    "trust-estimates": "Prevalence and recall",
    "trust-real": "Real spectra",
    "trust-population": "Independent halves",
    "trust-shift": "Shift",
    "trust-annotators": "Annotators",
    "trust-queue": "The ordered queue",
}
"""Heading on the page, by section. The page selects from the tables of "trust-trial"."""
_TABLE = re.compile(r"^\|.*(?:\n\|.*)*", re.MULTILINE)


def tables(text: str) -> list[str]:
    """Return the tables of a Markdown text."""
    return _TABLE.findall(text)


def section(page: str, heading: str) -> str:
    """Return the text below a heading of the page, up to the next one of any level."""
    found = re.search(rf"^##+ {re.escape(heading)}\n(.*?)(?=^##|\Z)", page, re.MULTILINE | re.DOTALL)
    assert found is not None, f"{PAGE}: found no heading {heading!r}"
    return found[1]


def with_tables(page: str, heading: str, blocks: Sequence[Block]) -> str:
    """Return the page with the tables of the blocks below a heading.

    :raises ValueError: another number of tables
    """
    before, new = section(page, heading), tables(markdown(blocks))
    if len(tables(before)) != len(new):
        raise ValueError(
            f"{PAGE}: {heading}: found {len(tables(before))} tables, expected {len(new)}; add them by hand"
        )
    each = iter(new)
    return page.replace(before, _TABLE.sub(lambda _: next(each), before))


def blocks_of(text: str) -> list[Block]:
    """Return the tables of a Markdown text as blocks, each with the paragraph before it."""
    found, end = list[Block](), 0
    for one in _TABLE.finditer(text):
        paragraph = text[end : one.start()].strip().rsplit("\n\n", 1)[-1]
        head, dashes, *lines = one[0].splitlines()
        rows = [line[2:-2].split(" | ") for line in lines]
        forms = ["{}" if cell.endswith(":") else "" for cell in dashes.strip("|").split("|")]
        found += [
            {"text": paragraph},
            {"columns": dict(zip(head[2:-2].split(" | "), forms, strict=True)), "rows": rows},
        ]
        end = one.end()
    return found


def renew_page() -> None:
    """Put the tables of all kept sections on the page."""
    page = PAGE.read_text(encoding="utf-8")
    for name, heading in HEADINGS.items():
        if found := kept(name):
            page = with_tables(page, heading, found["blocks"])
    PAGE.write_text(page, encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.trust.pages", description=__doc__)
    parser.add_argument("direction", choices=("to-page", "from-page"))
    if parser.parse_args().direction == "to-page":
        renew_page()
        return
    from tests.benchmarks.__main__ import ORDER, SECTIONS, entry

    page = PAGE.read_text(encoding="utf-8")
    for one in (one for one in SECTIONS if one.name in HEADINGS):
        text, before = section(page, HEADINGS[one.name]), kept(one.name)
        # The date and the versions of an unchanged table stay.
        if before is None or tables(markdown(before["blocks"])) != tables(text):
            keep(one.name, entry(one, blocks_of(text)))
    write_document(ORDER)


if __name__ == "__main__":
    main()
