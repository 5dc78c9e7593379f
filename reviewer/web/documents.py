"""The documents of the repository as web pages: Markdown with tables, links between documents, and pictures.

Only files found in the documents' folder when the server started have an address, so a request cannot name another
file. HTML inside a document is shown as text.
"""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote, urlsplit

from agent.language import ENGLISH, TAGS, current, deferred, tr

if TYPE_CHECKING:
    from markdown_it.token import Token

ROOT = Path(__file__).resolve().parents[2]
"""The folder of the program. An installed package has no documents next to it."""
ADDRESS = "/docs/"
_ABOVE = ("README.md", "SECURITY.md")
"""Documents of the folder above; they have an address among the others."""
_PICTURES = {".png": "image/png", ".svg": "image/svg+xml"}
_FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)

GROUPS: Mapping[str, tuple[str, ...]] = {
    deferred("Reviewing"): (
        *("first_evening.md", "reviewing.md", "hints.md", "review-aids.md", "sky.md", "inspecting.md", "tasks.md"),
        "zh/reviewing.md",
    ),
    deferred("Teamwork"): ("team/finding.md", "team/similar.md", "team/api.md"),
    deferred("Trust"): ("trust.md", "trust/trial.md", "trust/measurements.md"),
    deferred("Live and blind"): (
        *("live.md", "agents.md", "servers.md", "gpu.md"),
        *("blind.md", "blind/report.md", "blind/statistics.md", "blind/judges.md"),
    ),
    deferred("Coordinating"): (
        *("drafting.md", "formats.md", "access.md", "team/api.md", "backups.md", "SECURITY.md"),
    ),
    deferred("Agent and training"): (
        "scale.md",
        "baseline.md",
        *("training.md", "training/bench.md", "training/successors.md", "training/miniature.md", "gpu.md"),
        *("training/simulator.md", "training/making-a-benchmark.md"),
        "measurements.md",
        "team/translating.md",
    ),
}
"""The order of the list of documents; those that are not named here come last."""
_OTHERS = deferred("Program")


@dataclass(frozen=True)
class Picture:
    path: Path
    media_type: str


@dataclass(frozen=True)
class Heading:
    level: int
    text: str
    id: str


@dataclass(frozen=True)
class Document:
    """A document as HTML; links lead to addresses of this server or to other sites."""

    title: str
    html: str
    headings: tuple[Heading, ...]


class Documents:
    """The documents below a folder.

    :param root: has ``docs/``, ``README.md`` and ``SECURITY.md``, or none of them
    """

    def __init__(self, root: Path = ROOT) -> None:
        self.folder = root / "docs"
        self._root = root
        self._files = {path.relative_to(self.folder).as_posix(): path for path in self._paths("*.md")}
        if self._files:
            above = {name: root / name for name in _ABOVE if (root / name).is_file()}
            self._files = above | self._files
        self._pictures = {
            path.relative_to(self.folder).as_posix(): Picture(path, media_type)
            for ending, media_type in _PICTURES.items()
            for path in self._paths(f"*{ending}")
        }
        self._rendered = lru_cache(maxsize=64)(self._render)

    def _paths(self, pattern: str) -> Iterator[Path]:
        return (path for path in sorted(self.folder.rglob(pattern)) if path.is_file())

    def __contains__(self, name: str) -> bool:
        return name in self._files

    def language_of(self, name: str) -> str:
        """Return the language in which a document is written, as HTML names it."""
        return TAGS["zh"] if name.startswith("zh/") or name.endswith(".zh.md") else TAGS[ENGLISH]

    def document(self, name: str) -> Document:
        """Return a document, rendered again when its file has changed.

        :raises KeyError: there is none of this name
        """
        status = self._files[name].stat()
        # The size too: two writes within one tick of the clock have the same time.
        return self._rendered(name, (status.st_mtime_ns, status.st_size), current())

    def picture(self, name: str) -> Picture | None:
        return self._pictures.get(name)

    @cached_property
    def groups(self) -> Mapping[str, Mapping[str, str]]:
        """The titles of all documents by name, in groups."""
        named = {name for names in GROUPS.values() for name in names}
        others = tuple(name for name in self._files if name not in named)
        return {
            group: {name: self._title(name) for name in names if name in self._files}
            for group, names in {**GROUPS, _OTHERS: others}.items()
            if any(name in self._files for name in names)
        }

    def _title(self, name: str) -> str:
        text = _FENCE.sub("", self._files[name].read_text(encoding="utf-8"))
        heading = re.search(r"^# (.+)$", text, re.MULTILINE)
        return heading[1].replace("`", "").strip() if heading else name

    def _render(self, name: str, changed: tuple[int, int], language: str) -> Document:
        """Read a document, with notes on its links in the language of the context. The arguments are a cache's key."""
        # Not above: it takes a tenth of a second, which the start of the app would wait for.
        from markdown_it import MarkdownIt

        markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
        tokens = markdown.parse(_without_comments(self._files[name].read_text(encoding="utf-8")))
        headings = tuple(_give_ids(tokens))
        for token in tokens:
            _style_as_class(token)
            self._lead(token.children or (), name)
        html: str = markdown.renderer.render(tokens, markdown.options, {})
        return Document(self._title(name), html, headings)

    def _lead(self, tokens: list[Token] | tuple[()], name: str) -> None:
        """Make links and pictures of the document ``name`` lead to addresses of this server, which are relative."""
        elsewhere = False
        for token in tokens:
            if token.type == "image":
                token.attrs["src"] = self._address(str(token.attrs["src"]), name) or ""
                token.attrs["loading"] = "lazy"
            elif token.type == "link_open":
                target = str(token.attrs["href"])
                address = self._address(target, name)
                elsewhere = address is None
                if address is None:
                    # A file of the repository that is no document: its name is shown, and no link.
                    token.tag, token.attrs = (
                        "span",
                        {"title": tr("{file}, in the repository of the program", file=target)},
                    )
                else:
                    token.attrs["href"] = address
                    if urlsplit(address).scheme:
                        token.attrs |= {"target": "_blank", "rel": "noopener noreferrer"}
            elif token.type == "link_close" and elsewhere:
                token.tag = "span"

    def _address(self, target: str, name: str) -> str | None:
        """Return where a link or picture of the document ``name`` leads; None: to nothing that is served."""
        parts = urlsplit(target)
        if parts.scheme:
            return target if parts.scheme in ("http", "https", "mailto") else None
        if not parts.path:
            return target
        inside = self._files[name].relative_to(self._root).parent.as_posix()
        path = posixpath.normpath(posixpath.join(inside, unquote(parts.path)))
        name_here = path if path in _ABOVE else path.removeprefix("docs/")
        if name_here not in self._files and name_here not in self._pictures:
            return None
        return above(name) + quote(name_here) + (f"#{parts.fragment}" if parts.fragment else "")


def above(name: str) -> str:
    """Return the address of ``/docs/`` relative to the document ``name``."""
    return "../" * name.count("/") or "./"


def _without_comments(text: str) -> str:
    """Leave out the comments that mark figures written by a program."""
    return re.sub(r"^<!--.*?-->\n", "\n", text, flags=re.MULTILINE | re.DOTALL)


def _give_ids(tokens: list[Token]) -> Iterator[Heading]:
    """Give every heading the id that GitHub gives it, so that links to it work in both places."""
    seen: Counter[str] = Counter()
    for token, inline in pairwise(tokens):
        if token.type != "heading_open":
            continue
        text = "".join(part.content for part in inline.children or () if part.type in ("text", "code_inline"))
        own = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
        number = seen[own]
        seen[own] += 1
        token.attrs["id"] = f"{own}-{number}" if number else own
        yield Heading(int(token.tag[1]), text, str(token.attrs["id"]))


def _style_as_class(token: Token) -> None:
    """Write the alignment of a table cell as a class: the page's policy allows no style attributes."""
    style = token.attrs.pop("style", None)
    if style is not None:
        token.attrs["class"] = str(style).removeprefix("text-align:")
