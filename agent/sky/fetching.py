"""Records of catalogues for many objects: catalogue by catalogue and batch by batch, resumable.

A catalogue with astrometry comes first: by its source the object is followed to the epochs of the others.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO

from agent.http_client import HttpClient
from agent.json_lines import JournalError, drop_partial_line, json_line, json_lines, lock_file
from agent.language import tr
from agent.sky.columns import NoAnswer
from agent.sky.curves import light_curves
from agent.sky.local import COVERED, LocalFile
from agent.sky.maps import CatalogueMap
from agent.sky.matching import Target, gone, matched, record_of, without_answer
from agent.sky.records import SkyRecord, Source, record_from
from agent.sky.table import SkyTable, write_table
from agent.sky.tap import Overflow, TapClient

BATCH = 500
"""Targets of one query."""
MOST_FAILURES = 3
"""In a row of one catalogue; then the rest of its targets are left for the next run."""

NOT_COVERED = f"the file has no source within {COVERED:g}° of the position: it may not cover it"
NO_MOTION = "the motion of the object is not known: the catalogue with astrometry has not answered"

Key = tuple[str, str]
"""A spectrum's SHA-256 and a catalogue."""


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


class Answers:
    """The records so far: those of the table, and of the journal beside it until the table is written.

    A record counts once its line of the journal is with the operating system. As a context manager it locks the journal
    and writes the table at the end, whatever ended the block.
    """

    def __init__(self, table: Path, refresh: bool = False) -> None:
        """:param refresh: the answers of the table do not count as answers

        :raises JournalError: another run writes there, or a file is damaged
        :raises SkyError: the same of the table
        """
        self.table = table
        self._journal = table.with_name(f"{table.name}.journal.jsonl")
        self.records: dict[Key, SkyRecord] = {}
        if table.exists():
            self.records = {(sha256, record.catalogue): record for sha256, record in SkyTable(table).rows()}
        self._refreshed = set(self.records) if refresh else set()
        self._unanswered: dict[Key, SkyRecord] = {}
        try:
            self._file: BinaryIO = self._journal.open("a+b", buffering=0)
        except OSError as error:
            raise JournalError(f"{self._journal}: {error.strerror}") from error
        try:
            lock_file(self._file, self._journal)
            drop_partial_line(self._file)
            for line in json_lines(self._journal):
                where = f"{self._journal}: {line.number}"
                self._keep(str(line.row["spectrum"]), record_from(json.dumps(line.row["record"]), where))
        except BaseException:
            self._file.close()
            raise

    def _keep(self, spectrum: str, record: SkyRecord) -> None:
        """Keep a record; an earlier answer is not lost to a later failure."""
        key = spectrum, record.catalogue
        self._unanswered[key] = record
        if record.is_answer or key not in self.records or not self.records[key].is_answer:
            self.records[key] = self._unanswered.pop(key)
            self._refreshed.discard(key)

    def add(self, records: Sequence[tuple[str, SkyRecord]]) -> None:
        lines = (json_line({"spectrum": key, "record": record.to_json()}) for key, record in records)
        self._file.write("".join(lines).encode())
        for key, record in records:
            self._keep(key, record)

    def answer(self, spectrum: str, catalogue: str) -> SkyRecord | None:
        """Return a record that need not be asked for again."""
        record = self.records.get((spectrum, catalogue))
        is_kept = record is not None and record.is_answer and (spectrum, catalogue) not in self._refreshed
        return record if is_kept else None

    def latest(self, spectrum: str, catalogue: str) -> SkyRecord | None:
        """Return what came of asking last, which may have failed where an earlier answer is kept."""
        return self._unanswered.get((spectrum, catalogue)) or self.records.get((spectrum, catalogue))

    def __enter__(self) -> Answers:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            if self.records or kind is None:
                write_table(self.table, ((spectrum, record) for (spectrum, _), record in self.records.items()))
        except OSError as error:
            raise JournalError(
                tr(
                    "{path}: {strerror}; the answers are in {journal}",
                    path=self.table,
                    strerror=error.strerror,
                    journal=self._journal,
                )
            ) from error
        finally:
            self._file.close()
        self._journal.unlink()


@dataclass(frozen=True)
class Fetching:
    """What to ask for.

    :param maps: of all catalogues; those that are not ``chosen`` may have answered before
    :param local: files that have a catalogue, by its key; the others are asked of their services
    """

    maps: Mapping[str, CatalogueMap]
    chosen: Sequence[str]
    local: Mapping[str, Path] = field(default_factory=dict)
    client: TapClient = field(default_factory=TapClient)
    batch: int = BATCH
    is_stopped: Callable[[], bool] = lambda: False

    def run(self, targets: Sequence[Target], answers: Answers) -> Iterator[int]:
        """Ask for what is missing, and yield numbers of records that are settled.

        :raises SkyError: pyvo is not installed, or a map cannot be used
        """
        for catalogue in sorted(map(self.maps.__getitem__, self.chosen), key=lambda each: each.role != "astrometry"):
            missing = [target for target in targets if answers.answer(target.key, catalogue.key) is None]
            yield len(targets) - len(missing)
            if catalogue.role != "astrometry" and not catalogue.has_motion:
                followed = [self._followed(target, catalogue, answers) for target in missing]
                unknown = [target for target, moved in zip(missing, followed, strict=True) if moved is None]
                missing = [moved for moved in followed if moved is not None]
                answers.add([(t.key, without_answer(catalogue.key, t, "not asked", NO_MOTION)) for t in unknown])
                yield len(unknown)
            for records in self._of_catalogue(catalogue, missing):
                answers.add(records)
                yield len(records)
            if self.is_stopped():
                return

    def _of_catalogue(self, catalogue: CatalogueMap, targets: list[Target]) -> Iterator[list[tuple[str, SkyRecord]]]:
        path = self.local.get(catalogue.key)
        if catalogue.role == "light curve":
            http = None if path else HttpClient(self.client.manners.pause)
            for target, record in zip(targets, light_curves(targets, http, [path] if path else []), strict=True):
                yield [(target.key, record)]
                if self.is_stopped():
                    break
            if http is not None:
                http.close()
            return
        service = str(path) if path else catalogue.service.url if catalogue.service else ""
        size = max(1, len(targets) if path else self.batch)
        waiting = [targets[start : start + size] for start in range(0, len(targets), size)][::-1]
        failures = 0
        while waiting and not self.is_stopped():
            sent = waiting.pop()
            facts: dict[str, Any] = {"service": service, "queried_at": now()}
            try:
                near, facts["query"] = self._near(catalogue, LocalFile(path) if path else self.client, sent)
                answer = [
                    without_answer(catalogue.key, target, "not asked", NOT_COVERED, **facts)
                    if sources is None
                    else record_of(catalogue, target, sources, **facts)
                    for target, sources in zip(sent, near, strict=True)
                ]
                failures = 0
            except NoAnswer as error:
                if isinstance(error, Overflow) and len(sent) > 1:
                    waiting += [sent[len(sent) // 2 :], sent[: len(sent) // 2]]
                    continue
                answer = [without_answer(catalogue.key, target, "failed", str(error), **facts) for target in sent]
                failures += 1
                if failures == MOST_FAILURES:
                    reason = f"{failures} queries in a row had failed, the last one because {error}"
                    sent = [*sent, *(target for batch in waiting for target in batch)]
                    rest = sent[len(answer) :]
                    answer += [without_answer(catalogue.key, target, "not asked", reason) for target in rest]
                    waiting = []
            yield [(target.key, record) for target, record in zip(sent, answer, strict=True)]

    def _near(
        self, catalogue: CatalogueMap, asker: LocalFile | TapClient, targets: Sequence[Target]
    ) -> tuple[list[list[Source] | None], str]:
        """Return the sources near the targets and, of fast stars, near where they were at the time of the spectrum."""
        near, query = asker.sources(catalogue, targets)
        later: dict[int, Target] = {}
        for number, (target, sources) in enumerate(zip(targets, near, strict=True)):
            source = matched(record_of(catalogue, target, sources or ()), target.fibre, catalogue.position_error)
            if source is not None and (place := gone(catalogue, target, source)) is not None:
                later[number] = place
        more = asker.sources(catalogue, [*later.values()])[0] if later else []
        for number, sources in zip(later, more, strict=True):
            both = {source.id: source for source in (*(sources or ()), *(near[number] or ()))}
            near[number] = [*both.values()]
        return near, query

    def _followed(self, target: Target, catalogue: CatalogueMap, answers: Answers) -> Target | None:
        """Return where the object is at the catalogue's epoch by the newest astrometry that answered, or where it was
        without a match; None if astrometry was to be asked for and has failed.
        """
        known = [each for each in self.maps.values() if each.role == "astrometry"]
        records = [(each, answers.records.get((target.key, each.key))) for each in known]
        answered = [(each, record) for each, record in records if record is not None and record.is_answer]
        if not answered and any(each.key in self.chosen for each in known):
            return None
        for each, record in sorted(answered, key=lambda pair: -pair[0].epoch):
            if (source := matched(record, target.fibre, each.position_error)) is not None:
                return target.at(catalogue.epoch, source, each.epoch)
        return target
