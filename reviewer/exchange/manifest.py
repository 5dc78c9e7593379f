"""The manifest of an export, collected on the disk while the items are written."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

_LISTS = {"files": ("{", "}"), "items": ("[", "]")}
"""The lists that are as long as the export; the last keys of the manifest, in this order."""


class ManifestParts:
    """The parts of the manifest about the files and items written so far.

    ``ids`` are the items, ``items`` counts them; ``people`` are the initials of everyone who wrote or decided;
    ``one_person`` says that an item was approved by one person only.
    """

    def __init__(self, folder: Path) -> None:
        """Create two temporary files without names in ``folder``. :raises OSError: nothing can be written there"""
        self.ids: list[int] = []
        self.people: set[str] = set()
        self._sums: Counter[str] = Counter()
        self._of: dict[str, Counter[str]] = {name: Counter() for name in ("tasks", "verdicts", "drafters", "prompts")}
        self._entries = {
            name: tempfile.TemporaryFile("w+", dir=folder, encoding="utf-8", newline="\n")  # noqa: SIM115
            for name in _LISTS
        }

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, _: object, where: TracebackType | None) -> None:
        for file in self._entries.values():
            try:
                file.close()
            except OSError:
                if kind is None:
                    raise

    @property
    def items(self) -> int:
        return len(self.ids)

    @property
    def one_person(self) -> bool:
        return self._sums["by_one_person"] > 0

    @property
    def counts(self) -> dict[str, Any]:
        sums = {name: self._sums[name] for name in ("pictures", "simulated", "by_one_person", "with_sky")}
        return {"items": self.items, **sums, **{k: dict(sorted(of.items())) for k, of in self._of.items()}}

    def add_files(self, hashes: Mapping[str, str]) -> None:
        """Add files: ``hashes`` by their paths in the export, in the form of the manifest."""
        for path, sha256 in hashes.items():
            self._add("files", f"{_text(path)}: {_text(sha256)}")

    def add_item(self, provenance: Mapping[str, Any]) -> None:
        self._add("items", _text(provenance))
        self.ids.append(provenance["item"])
        self.people |= {decision["person"] for decision in provenance["decisions"]}
        self.people |= {version["author"] for version in provenance["versions"] if version["author"]}
        self._sums["pictures"] += len(provenance["pictures"])
        self._sums["simulated"] += provenance["simulated"]
        self._sums["by_one_person"] += provenance["one_person"]
        self._of["tasks"][provenance["task"]] += 1
        self._of["verdicts"][provenance["verdict"]] += 1
        drafter = provenance["drafter"]
        # Its drafter was offered what catalogues know of the object; their records are no part of the export.
        self._sums["with_sky"] += drafter["settings"].get("sky") is True
        self._of["drafters"][drafter["kind"]] += 1
        self._of["prompts"][str(drafter["settings"].get("prompt_source", "ours"))] += 1

    def write(self, path: Path, head: Mapping[str, Any]) -> None:
        """Write the manifest: ``head``, then the files and the items, as JSON with an indent of one.

        :raises OSError: the disk is full
        """
        with path.open("w", encoding="utf-8", newline="\n") as file:
            file.write(_text(head).removesuffix("\n}"))
            for name, (first, last) in _LISTS.items():
                entries = self._entries[name]
                entries.seek(0)
                file.write(f",\n {_text(name)}: {first}")
                shutil.copyfileobj(entries, file)
                file.write(f"\n {last}")
            file.write("\n}\n")

    def _add(self, name: str, text: str) -> None:
        file = self._entries[name]
        # Text in JSON has no line breaks of its own: each is one of the layout.
        indented = text.replace("\n", "\n  ")
        file.write(f",\n  {indented}" if file.tell() else f"\n  {indented}")


def _text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1)
