"""``spec-o3 sky fetch``: ask catalogues what they know of the objects of spectra."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent.cli.command import CHECK_FAILED, DONE, CannotRun, ProgressBar, print_result, progress, stop_on_signal
from agent.cli.options import JsonOutput, argument, keys, option, output_file
from agent.cli.selection import Selection, selected_sources, skipped_text
from agent.language import deferred, tr, trn
from agent.text import one_line

if TYPE_CHECKING:
    from agent.batch.sources import Source
    from agent.conversation import Stop
    from agent.sky.maps import CatalogueMap
    from agent.sky.matching import Target
    from agent.sky.records import SkyRecord

CATALOGUES = ("gaia_dr3", "twomass", "allwise", "sdss_dr16", "ps1_dr1")
"""Without names and types. Gaia DR4 joins them when its table can be read."""
SHOWN = 5


@dataclass(kw_only=True)
class FetchOptions(Selection, JsonOutput):
    paths: list[str] = argument(
        "survey files, folders, lists (@FILE, or CSV with a column file), or - for a list on stdin", metavar="LIST"
    )
    out: Path = option("table of the records to write or to complete, as Parquet", read=output_file)
    catalogues: list[list[str]] | None = option(
        deferred(
            "only these catalogues (default {names}); simbad and vsx have to be named", names=",".join(CATALOGUES)
        ),
        metavar="KEY,...",
        read=keys,
    )
    local: list[str] = option(
        "read this catalogue from a file or a HATS folder, not from its service; may be repeated",
        metavar="KEY=PATH",
        repeat=True,
    )
    map: list[Path] = option("map of a catalogue of your own, TOML; may be repeated", repeat=True)
    refresh: bool = option("ask again for what was answered before")


@dataclass
class Objects:
    """What the list gave: targets with the names of their spectra, spectra without a position, unreadable ones."""

    targets: dict[str, Target] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    without_position: list[str] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)


def run_fetch(arguments: FetchOptions) -> int:
    from agent.conversation import Stop
    from agent.sky.fetching import Answers, Fetching

    maps, chosen, local = _catalogues(arguments)
    sources, skipped = selected_sources(arguments, arguments.paths, arguments.out.parent)
    stop = Stop()
    with stop_on_signal(stop):
        objects = _objects(arguments, sources, stop)
        targets = list(objects.targets.values())
        fetching = Fetching(maps, chosen, local, is_stopped=lambda: stop.is_set)
        with Answers(arguments.out, arguments.refresh) as answers, ProgressBar(None, tr("fetching")) as bar:
            bar.expect(len(targets) * len(chosen))
            for done in accumulate(fetching.run(targets, answers)):
                bar.at(done)
    records = [(key, answers.latest(key, each)) for each in chosen for key in objects.targets]
    result = _result(arguments, objects, records) | {"skipped": skipped}
    print_result(arguments, result, _text(result) + skipped_text(skipped))
    if stop.is_set:
        raise KeyboardInterrupt
    return CHECK_FAILED if result["failed"] or objects.unreadable else DONE


def _catalogues(arguments: FetchOptions) -> tuple[dict[str, CatalogueMap], list[str], dict[str, Path]]:
    """Return all maps, the catalogues to fetch, and local files by catalogue.

    :raises CannotRun: an unknown catalogue, or no such file
    """
    from agent.sky.maps import known_maps

    maps = known_maps(arguments.map)
    if wrong := [pair for pair in arguments.local if not all(pair.partition("="))]:
        raise CannotRun(tr("--local: found {pair!r}, expected KEY=PATH", pair=wrong[0]))
    local = {key: Path(path) for key, _, path in (pair.partition("=") for pair in arguments.local)}
    named = [*(key for group in arguments.catalogues or [[*CATALOGUES]] for key in group), *local]
    for key in named:
        if key not in maps:
            raise CannotRun(tr("found the catalogue {key!r}, expected one of {names}", key=key, names=", ".join(maps)))
    if missing := [path for path in local.values() if not path.exists()]:
        raise CannotRun(tr("--local: {path}: found no such file or folder", path=missing[0]))
    return maps, list(dict.fromkeys(named)), local


def _objects(arguments: FetchOptions, sources: Sequence[Source], stop: Stop) -> Objects:
    from agent.batch.sources import SpectrumFile, key_of
    from agent.sky.matching import target_of
    from agent.spectrum import Spectrum

    objects = Objects()
    for source in progress(sources, len(sources), tr("reading")):
        file = SpectrumFile(source.path, arguments.medium)
        for name in file.names(source.target):
            if stop.is_set:
                return objects
            spectrum, key = file.read(name), key_of(source.file, name)
            if not isinstance(spectrum, Spectrum):
                objects.unreadable.append(f"{key}: {spectrum}")
            elif (target := target_of(spectrum)) is None:
                objects.without_position.append(key)
            else:
                objects.names.setdefault(target.key, key)
                objects.targets.setdefault(target.key, target)
    return objects


def _result(
    arguments: FetchOptions, objects: Objects, records: Sequence[tuple[str, SkyRecord | None]]
) -> dict[str, Any]:
    known = [(key, record) for key, record in records if record is not None]
    counts: dict[str, Counter[str]] = {}
    for _, record in known:
        counts.setdefault(record.catalogue, Counter())[record.status] += 1
    return {
        "table": str(arguments.out),
        "spectra": len(objects.targets),
        "catalogues": counts,
        "failed": [
            {"spectrum": objects.names[key], "catalogue": record.catalogue, "detail": record.detail}
            for key, record in known
            if record.status == "failed"
        ],
        "without_position": objects.without_position,
        "unreadable": objects.unreadable,
    }


def _text(result: dict[str, Any]) -> str:
    from agent.sky.records import STATUSES

    width = max(map(len, (*result["catalogues"], "catalogue")))
    lines = [
        trn("{n} object in {out}", "{n} objects in {out}", result["spectra"], out=result["table"]),
        "  ".join([tr("catalogue").ljust(width), *(tr(name) for name in STATUSES)]),
    ]
    for key, counts in result["catalogues"].items():
        lines.append("  ".join([key.ljust(width), *(str(counts[name]).rjust(len(tr(name))) for name in STATUSES)]))
    failed: dict[str, list[str]] = {}
    for each in result["failed"]:
        failed.setdefault(f"{each['catalogue']}: {tr(each['detail'])}", []).append(each["spectrum"])
    for title, names in (
        *((tr("failed; the same command asks again: {reason}", reason=reason), of) for reason, of in failed.items()),
        (tr("spectra without a position"), result["without_position"]),
        (tr("spectra that cannot be read"), result["unreadable"]),
    ):
        lines += [f"{one_line(title, 400)}: {len(names)}"] * bool(names)
        lines += [f"  {one_line(name)}" for name in names[:SHOWN]]
        lines += ["  " + tr("and {n} more: --json lists all", n=len(names) - SHOWN)] * (len(names) > SHOWN)
    return "\n".join(lines)
