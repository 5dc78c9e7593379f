"""The bibliography of a catalogue: every citation of what was used, as BibTeX.

Citations are those of the task, of catalogues and templates, in the form "Hou et al. 2020 AJ 159, 43". One of another
form becomes an entry with its whole text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from agent.sky.maps import bundled
from agent.table_files import ascii_text
from agent.templates import bundled as templates
from reviewer.catalogue.objects import Rows

_PROGRAMS = (
    "Spec-o3 (arXiv:2601.06498)",
    "Astropy Collaboration 2022 ApJ 935, 167 (astropy)",
    "Harris et al. 2020 Nature 585, 357 (numpy)",
    "Virtanen et al. 2020 NatMe 17, 261 (scipy)",
    "Hunter 2007 CSE 9, 90 (matplotlib)",
)
_INSPECTIONS = (
    "Lan et al. 2023 ApJ 943, 68 (scale of quality)",
    "Alexander et al. 2023 AJ 165, 124 (scale of quality)",
)
_SERVICES = {
    "vizier": "Ochsenbein, Bauer & Marcout 2000 A&AS 143, 23 (VizieR)",
    "simbad": "Wenger et al. 2000 A&AS 143, 9 (SIMBAD)",
    "gea.esac": "Gaia Collaboration, Prusti et al. 2016 A&A 595, A1 (Gaia)",
    "irsa": "NASA/IPAC Infrared Science Archive",
}
_JOURNAL = r"[A-Z][A-Za-z&. ]*?[A-Za-z&]"
_ARTICLE = re.compile(
    rf"(?P<authors>\D[^;()]*?),? (?P<year>(?:19|20)\d\d)[a-z]? (?P<journal>{_JOURNAL}) (?P<volume>\d+), "
    r"(?P<page>[A-Z]?\d+)(?:[, ]*\(?(?P<note>[^;]*?)\)?)?"
)
_ARXIV = re.compile(r"(?P<authors>\D[^;()]*?) (?P<year>(?:19|20)\d\d) arXiv:(?P<eprint>[\d.]+)(?: \((?P<note>.*)\))?")
_BOOK = re.compile(r"(?P<authors>\D[^;()]*?) (?P<year>(?:19|20)\d\d), (?P<title>[^,;]+)(?:, (?P<publisher>[^;]+))?")
_TEX = str.maketrans({"&": r"\&", "%": r"\%", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}", "$": r"\$"})


@dataclass(frozen=True)
class Reference:
    """An entry of a bibliography. ``fields`` are those of BibTeX."""

    kind: str
    fields: Mapping[str, str]

    @property
    def base(self) -> str:
        """First author and year, of which the key is made."""
        author = self.fields.get("author", self.fields.get("title", "ref")).split(" and ")[0].strip("{}").split(",")[0]
        return re.sub(r"\W", "", _plain(author).title() if author.isupper() else _plain(author)) + self.fields.get(
            "year", ""
        )

    def bibtex(self, key: str) -> str:
        lines = [f"  {name} = {{{value}}}" for name, value in self.fields.items()]
        return f"@{self.kind}{{{key},\n" + ",\n".join(lines) + "\n}\n"


@dataclass(frozen=True)
class Bibliography:
    """The references of a catalogue by their keys, and the keys of each citation."""

    references: Mapping[str, Reference]
    key_of: Mapping[str, tuple[str, ...]]

    @classmethod
    def of(cls, citations: Iterable[str]) -> Bibliography:
        parsed = {citation: tuple(map(_reference, _parts(citation))) for citation in dict.fromkeys(citations)}
        unique = sorted(
            {(r.base, tuple(r.fields.items())): r for of in parsed.values() for r in of}.items(),
            key=lambda pair: pair[0],
        )
        keys: dict[tuple[object, ...], str] = {}
        taken: dict[str, Reference] = {}
        for identity, reference in unique:
            # The same article may be cited with another note.
            same = next((key for key, known in taken.items() if _same(known, reference)), None)
            if same is None:
                same = next(key for key in _names(reference.base) if key not in taken)
                taken[same] = reference
            keys[identity] = same
        key_of = {
            citation: tuple(dict.fromkeys(keys[(r.base, tuple(r.fields.items()))] for r in of))
            for citation, of in parsed.items()
        }
        return cls(taken, key_of)

    def bibtex(self) -> str:
        return "\n".join(reference.bibtex(key) for key, reference in self.references.items())

    def cite(self, *citations: str) -> str:
        """Return the citations as Markdown of pandoc: [@Hou2020; @Warner1995]."""
        keys = dict.fromkeys(key for citation in citations for key in self.key_of[citation])
        return f"[{'; '.join(f'@{key}' for key in keys)}]"


@dataclass(frozen=True)
class Cited:
    """The citations of a catalogue by what they are for."""

    task: tuple[str, ...]
    catalogues: Mapping[str, tuple[str, ...]]
    services: tuple[str, ...]
    templates: tuple[str, ...]
    inspections: tuple[str, ...]
    programs: tuple[str, ...] = _PROGRAMS

    @classmethod
    def of(cls, rows: Rows) -> Cited:
        """Return what was used for these rows."""
        answered = {record.catalogue: record for sky in rows.facts.skies.values() for record in sky if record.is_answer}
        maps = bundled()
        catalogues = {
            maps[key].title if key in maps else key: tuple(_parts(maps[key].citation)) if key in maps else (key,)
            for key in sorted(answered)
        }
        real = [record.service.lower() for record in answered.values() if not record.simulated]
        return cls(
            task=tuple(rows.facts.campaign["task"]["references"].values()),
            catalogues=catalogues,
            services=tuple(text for name, text in _SERVICES.items() if any(name in service for service in real)),
            templates=tuple(dict.fromkeys(template.about.citation for template in templates().templates)),
            inspections=_INSPECTIONS if any(item["inspection"] for item in rows.facts.rows) else (),
        )

    @property
    def all(self) -> tuple[str, ...]:
        of_catalogues = (citation for citations in self.catalogues.values() for citation in citations)
        return (*self.task, *of_catalogues, *self.services, *self.templates, *self.inspections, *self.programs)


def _parts(citation: str) -> list[str]:
    parts = (part.strip() for part in re.split(r";(?![^(]*\))", citation))
    return [re.sub(r"^(?:[A-Z][^:]{1,30}: |as used by )", "", part) for part in parts if part]


def _reference(citation: str) -> Reference:
    """Return a citation as an entry."""
    if article := _ARTICLE.fullmatch(citation):
        about = article.groupdict()
        fields = {"author": _authors(about["authors"]), "year": about["year"], "journal": _tex(about["journal"])}
        return Reference("article", fields | {"volume": about["volume"], "pages": about["page"]} | _note(about["note"]))
    if preprint := _ARXIV.fullmatch(citation):
        about = preprint.groupdict()
        fields = {"author": _authors(about["authors"]), "year": about["year"], "eprint": about["eprint"]}
        return Reference("misc", fields | {"archiveprefix": "arXiv"} | _note(about["note"]))
    if book := _BOOK.fullmatch(citation):
        about = book.groupdict()
        fields = {"author": _authors(about["authors"]), "year": about["year"], "title": f"{{{_tex(about['title'])}}}"}
        return Reference("book", fields | ({"publisher": _tex(about["publisher"])} if about["publisher"] else {}))
    return Reference("misc", {"title": f"{{{_tex(citation)}}}"})


def _authors(text: str) -> str:
    """Return "A, B & C et al." as BibTeX has it; a collaboration is one name."""
    others = text.endswith(" et al.")
    names = [name for name in re.split(r", | & ", text.removesuffix(" et al.")) if name]
    names = [f"{{{_tex(name)}}}" if " " in name or "Collaboration" in name else _tex(name) for name in names]
    return " and ".join([*names, *(["others"] if others else [])])


def _note(text: str | None) -> dict[str, str]:
    return {"note": _tex(text)} if text else {}


def _same(first: Reference, second: Reference) -> bool:
    return {k: v for k, v in first.fields.items() if k != "note"} == {
        k: v for k, v in second.fields.items() if k != "note"
    }


def _names(base: str) -> Iterable[str]:
    yield base
    yield from (f"{base}{chr(97 + n)}" if n < 26 else f"{base}-{n}" for n in range(1, 10_000))


def _plain(text: str) -> str:
    return "".join(letter for letter in unicodedata.normalize("NFKD", ascii_text(text)) if letter.isascii())


def _tex(text: str) -> str:
    return text.translate(_TEX)
