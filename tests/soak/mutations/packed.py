"""gzip and zip files whose outside is whole and whose inside is spoiled."""

from __future__ import annotations

import gzip
import io
import random
import warnings
import zipfile
import zlib

from tests.soak.mutations.values import LONGEST, NASTY_TEXTS, Mutate, spoiled_bytes


def inside_gzip(inner: Mutate) -> Mutate:
    """What is in a gzip file spoiled by ``inner``, packed again; now and then the packing itself."""

    def spoiled(data: bytes, chance: random.Random) -> bytes:
        if chance.random() < 0.3:
            return spoiled_bytes(data, chance)
        try:
            plain = zlib.decompressobj(31).decompress(data, LONGEST)
        except zlib.error:
            return spoiled_bytes(data, chance)
        return gzip.compress(inner(plain, chance), 1, mtime=0)

    return spoiled


def inside_zip(inner: Mutate) -> Mutate:
    """A zip with a member spoiled, renamed, doubled or made a link; now and then the packing itself."""

    def spoiled(data: bytes, chance: random.Random) -> bytes:
        if chance.random() < 0.3:
            return spoiled_bytes(data, chance)
        try:
            with zipfile.ZipFile(io.BytesIO(data)) as packed:
                members = [(m, packed.read(m)) for m in packed.infolist() if m.file_size < LONGEST]
        except Exception:
            return spoiled_bytes(data, chance)
        if not members:
            return spoiled_bytes(data, chance)
        at = chance.randrange(len(members))
        member, content = members[at]
        match chance.randrange(4):
            case 0:
                name = chance.choice([*NASTY_TEXTS, "../x.jsonl", "/x.jsonl", "a/b", "a", "images", "x" * 300])
                member.filename = name.encode("utf-8", "replace").decode() or "x"
            case 1:
                member.external_attr = 0o120777 << 16
                content = chance.choice((b"/etc/passwd", b"../..", b"."))
            case 2:
                members.append((zipfile.ZipInfo(member.filename + chance.choice(("", "/x", ".jsonl"))), content))
            case _:
                content = inner(content, chance)
        members[at] = (member, content)
        return _zipped(members)

    return spoiled


def _zipped(members: list[tuple[zipfile.ZipInfo, bytes]]) -> bytes:
    made = io.BytesIO()

    with warnings.catch_warnings(), zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as packed:
        warnings.simplefilter("ignore")  # two members of one name are meant
        for member, content in members:
            again = zipfile.ZipInfo(member.filename)
            again.external_attr = member.external_attr
            packed.writestr(again, content)
    return made.getvalue()
