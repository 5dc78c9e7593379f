"""``spec-o3 fetch``: bring spectra from public archives, as files that can be inspected."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from agent.cli.command import CHECK_FAILED, DONE, CannotRun, print_result, progress
from agent.cli.options import JsonOutput, amount, argument, option, output_folder, positive
from agent.http_client import PAUSE, TIMEOUT
from agent.language import tr
from agent.text import one_line


@dataclass(kw_only=True)
class Options(JsonOutput):
    ids: list[str] = argument("identifiers; @FILE: a list, one in each line; -: the list on standard input")
    archive: Literal["sparcl", "sdss", "desi"] = option("the archive", flag="--from")
    out: Path = option("folder to write; files that are there are kept", metavar="DIR", read=output_folder)
    pause: float = option("seconds between requests", default=PAUSE, read=amount)
    timeout: float = option("seconds to wait for an answer", default=TIMEOUT, read=positive)
    service: str = option("address of a mirror of the archive, in place of its own", default="", metavar="URL")


def run(arguments: Options) -> int:
    from agent.archives import ARCHIVES, fetch
    from agent.http_client import HttpClient

    ids = list(dict.fromkeys(_listed(arguments.ids)))
    if not ids:
        raise CannotRun(tr("found no identifiers, expected some: {form}", form=ARCHIVES[arguments.archive].form))
    with closing(HttpClient(arguments.pause, arguments.timeout)) as http:
        archive = ARCHIVES[arguments.archive](http, arguments.service.rstrip("/"))
        try:
            results = list(progress(fetch(archive, ids, arguments.out), len(ids), tr("fetching")))
        except OSError as error:
            raise CannotRun(f"{error.filename or arguments.out}: {error.strerror}") from error
    number = Counter(fetched=0, kept=0, failed=0)
    number.update(each.status for each in results)
    lines = [tr("{folder}: {fetched} fetched, {kept} kept, {failed} failed", folder=arguments.out, **number)]
    lines += ["  " + one_line(f"{each.id}: {each.detail}") for each in results if each.detail]
    result = {"folder": str(arguments.out), **number, "spectra": [asdict(each) for each in results]}
    print_result(arguments, result, "\n".join(lines))
    return CHECK_FAILED if number["failed"] else DONE


def _listed(given: Sequence[str]) -> Iterator[str]:
    for word in given:
        lines: Sequence[str] = [word]
        if word == "-":
            lines = sys.stdin.read().splitlines()
        elif word.startswith("@"):
            try:
                lines = Path(word[1:]).read_text(encoding="utf-8-sig").splitlines()
            except (OSError, UnicodeError) as error:
                raise CannotRun(f"{word[1:]}: {error}") from error
        for line in lines:
            if spectrum_id := line.partition("#")[0].strip():
                yield spectrum_id
