"""``spec-o3 sky fetch``: ask catalogues what they know of the objects of spectra."""

from __future__ import annotations

from argparse import ArgumentTypeError
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent.cli.command import CHECK_FAILED, DONE, CannotRun, ProgressBar, print_result, progress, stop_on_signal
from agent.cli.options import JsonOutput, argument, at_least_one, keys, option, output_file
from agent.cli.selection import Selection, Skipped, selected_sources, skipped_text
from agent.language import deferred, tr, trn
from agent.text import one_line

if TYPE_CHECKING:
    from agent.sky.fetching import Answers
    from agent.sky.maps import CatalogueMap
    from agent.sky.matching import Target

CATALOGUES = ("gaia_dr3", "twomass", "allwise", "sdss_dr16", "ps1_dr1")
"""Without names and types. Gaia DR4 joins them when its table can be read."""
SHOWN = 20


def local_file(text: str) -> tuple[str, Path]:
    """Read KEY=PATH. :raises ArgumentTypeError: it is no such pair"""
    key, separator, path = text.partition("=")
    if not (key and separator and path):
        raise ArgumentTypeError(tr("found {text!r}, expected KEY=PATH, e.g. gaia_dr3=gaia.parquet", text=text))
    return key, Path(path)


@dataclass(kw_only=True)
class FetchOptions(Selection, JsonOutput):
    paths: list[str] = argument(
        "survey files, folders, lists (@FILE, or CSV with a column file), or - for a list on stdin", metavar="LIST"
    )
    out: Path = option("table of the records to write, or to complete: .parquet", read=output_file)
    catalogues: list[str] = option(
        "catalogues, or those of maps of your own; simbad and vsx only if they are named here",
        default=",".join(CATALOGUES),
        metavar="KEY,...",
        read=keys,
    )
    local: list[tuple[str, Path]] = option(
        "read this catalogue from a file or a HATS folder, not from its service; may be repeated",
        metavar="KEY=PATH",
        read=local_file,
        repeat=True,
    )
    map: list[Path] = option("map of a catalogue of your own (TOML); may be repeated", metavar="FILE", repeat=True)
    batch: int = option("targets per query", default=500, read=at_least_one)
    refresh: bool = option("ask again for what has been answered")


def run_fetch(arguments: FetchOptions) -> int:
    from agent.conversation import Stop
    from agent.sky.fetching import Answers, Fetching

    catalogues, stop, skipped = _catalogues(arguments), Stop(), _Skipped()
    with stop_on_signal(stop):
        targets, skipped = _targets(arguments, stop)
        local, total = dict(arguments.local), len(targets) * len(catalogues)
        fetching = Fetching(catalogues, local, batch=arguments.batch, is_stopped=lambda: stop.is_set)
        with Answers(arguments.out, arguments.refresh) as answers, ProgressBar(total, tr("asking catalogues")) as bar:
            done = 0
            for number in fetching.run(targets, answers):
                done += number
                bar.at(done)
    result = _result(arguments, catalogues, targets, answers, skipped)
    print_result(arguments, result, _text(result) + skipped_text(skipped.files))
    if stop.is_set:
        raise KeyboardInterrupt
    return CHECK_FAILED if result["failed"] or skipped.unreadable else DONE
