"""Mutations of whole spectrum files by a seeded generator: what transfer, editors and other programs do to files.

Unlike the strategies of ``damage`` they are made for large real files, of which each is read a few times only.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from random import Random

CARD, BLOCK = 80, 2880
LARGEST = 400_000
"""Bytes of the largest file that is mutated."""

NAMES = (
    "FLUX",
    "wave",
    "WAVELENGTH",
    "loglam",
    "ivar",
    "err",
    "variance",
    "mask",
    "DQ",
    "frequency",
    "x" * 60,
    "",
    "é",
)
FORMATS = (
    *("1E", "1D", "0D", "1PD(9)", "QD", "999999999E", "-1J", "3X", "12A", "L", "1PE(999999999)", "F10.3", "E25.17"),
    *("A8", "I4", "F999.3", "2P", "C", "M", "1000000K", "", "?"),
)
ABSURD = (
    *("CTYPE1='WAVE-TAB'", "CTYPE1='WAVE-GRI'", "CTYPE1='WAVE-LOG'", "CTYPE1='FREQ'", "CTYPE1='ENER-F2W'"),
    *("CTYPE1='AWAV-LOG'", "CTYPE1='RA---TAN'", "CTYPE1='VELO'", "CTYPE1='WAVE-XXX'", "CUNIT1='furlong'"),
    *("CUNIT1='10**400 m'", "CUNIT1='keV'", "CUNIT1='((((m'", "CUNIT1='m/m/m/m/m'", "PC1_1=0.0", "PC1_1=-1.0"),
    *("PC1_2=5.0", "CD1_1=0.0", "CD1_1=1E300", "CD1_1=-1E-300", "CD2_1=7.0", "CROTA1=45.0", "PV1_0=1E400"),
    *("PV1_99=2.0", "PS1_0='x'", "CRPIX1=1E18", "CRVAL1=1E308", "CRVAL1=-4000.0", "CDELT1=0.0", "CDELT1=NaN"),
    *("RESTFRQ=-1.0", "RESTWAV=0.0", "WCSAXES=99", "WCSAXES=-1", "BLANK=0", "BLANK=1E400", "BSCALE=0.0", "BZERO=1E308"),
    *("TNULL1=0", "TNULL2='x'", "TSCAL1=0.0", "TZERO2=1E308", "TDIM1='(9,9)'", "TDIM2='(1'", "THEAP=0", "THEAP=-5"),
    *("THEAP=999999999999", "TBCOL1=99999", "TBCOL2=0", "TUNIT1='mag'", "TUNIT1='0.1nm'", "TFIELDS=0", "TFIELDS=999"),
    *("PCOUNT=999999999999", "PCOUNT=-1", "GCOUNT=2", "NAXIS=1", "NAXIS1=1", "NAXIS2=0", "NAXIS2=999999999"),
    *("BITPIX=8", "BITPIX=-64", "ZIMAGE=T", "EXTNAME='FLUX'", "EXTNAME=''", "XTENSION='TABLE'", "XTENSION='IMAGE'"),
    *("TELESCOP='JWST'", "TELESCOP='LAMOST'", "DMODCLS='OneSpec'", "SPECO3='spec-o3/spectrum/1'", "DC-FLAG='1'"),
)
CELLS = (
    *("nan", "-inf", "1e999", "-1", "0", "", '""', "--", "null", "x", "4000,5", "1D3", "1e40", "٣", "(1, 2)", "[1,2]"),
    *("9" * 400, "true", "2020-01-01", "\t", "1:2", "#", "'", "\\", "$"),
)
LINES = (
    *(
        "# %ECSV 1.0",
        "# ---",
        "# datatype:",
        "# - {name: wavelength, unit: furlong, datatype: float64}",
        "# - {name: [",
    ),
    *("Byte-by-byte Description of file: x", "-" * 80, "   1-999999 F8.2   0.1nm   Wave    Wavelength", "=" * 80),
    *("|    wave|    flux|", "|  double|    char|", "\\key = 'x", "wavelength,flux,err", "um,mJy,mJy", "NSPLINE 3 4"),
)


def real_files(folder: Path, count: int) -> list[Path]:
    """Return files of as many layouts as possible: the smallest of each folder and ending, then the next ones."""
    groups: dict[tuple[str, str], list[Path]] = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.suffix != ".md" and path.name != "MANIFEST.csv" and path.stat().st_size <= LARGEST:
            groups.setdefault((path.relative_to(folder).parts[0], path.suffix), []).append(path)
    ranked = [
        (rank, group, path)
        for group, paths in groups.items()
        for rank, path in enumerate(sorted(paths, key=lambda path: path.stat().st_size))
    ]
    return [path for _, _, path in sorted(ranked)[:count]]


def mutated(content: bytes, random: Random) -> bytes:
    """Return the content with one to three mutations of its kind of file."""
    kinds = FITS if content.startswith(b"SIMPLE") else BYTES if _is_binary(content) else TEXT
    for _ in range(random.randint(1, 3)):
        content = random.choice(kinds)(content, random)
    return content


def _is_binary(content: bytes) -> bool:
    return b"\0" in content[:4000] or content.startswith(b"PAR1")


Mutation = Callable[[bytes, Random], bytes]


# ---- bytes


def _flip(content: bytes, random: Random) -> bytes:
    changed = bytearray(content)
    for _ in range(random.choice((1, 3, 20)) if changed else 0):
        changed[random.randrange(len(changed))] ^= 1 << random.randrange(8)
    return bytes(changed)


def _truncate(content: bytes, random: Random) -> bytes:
    end = random.randrange(len(content) + 1)
    return content[: end - end % BLOCK if random.random() < 0.3 else end]


def _fill(content: bytes, random: Random) -> bytes:
    start = random.randrange(len(content) + 1)
    length = random.choice((8, CARD, 512, BLOCK))
    return content[:start] + random.choice((b"\0", b"\xff", b" ", b"9")) * length + content[start + length :]


def _line_ends(content: bytes, random: Random) -> bytes:
    return content.replace(*random.choice(((b"\n", b"\r\n"), (b"\n", b"\r"), (b"\r\n", b"\n"), (b"\r", b""))))


def _append(content: bytes, random: Random) -> bytes:
    return content + random.choice((b"\r\n", b"\0" * BLOCK, b"XTENSION= 'BINTABLE'".ljust(BLOCK), content[:BLOCK]))


# ---- cards


def _cards(content: bytes) -> list[int]:
    """Return where the cards with values begin, of all headers."""
    starts = range(0, len(content) - CARD + 1, CARD)
    return [at for at in starts if re.match(rb"[A-Z0-9_-]{1,8} *= ", content[at : at + 10])]


def _set(content: bytes, at: int, card: bytes) -> bytes:
    return content[:at] + card.ljust(CARD)[:CARD] + content[at + CARD :]


def _card_bytes(content: bytes, random: Random) -> bytes:
    cards = _cards(content)
    for _ in range(random.choice((1, 2, 8)) if cards else 0):
        at = random.choice(cards) + random.randrange(CARD)
        content = (
            content[:at]
            + bytes([random.choice((random.randrange(32, 127), random.randrange(256)))])
            + content[at + 1 :]
        )
    return content


def _delete_card(content: bytes, random: Random) -> bytes:
    """Delete a card; those behind it in its block move up."""
    cards = _cards(content)
    if not cards:
        return content
    at = random.choice(cards)
    end = at - at % BLOCK + BLOCK
    return content[:at] + content[at + CARD : end] + b" " * CARD + content[end:]


def _swap_cards(content: bytes, random: Random) -> bytes:
    """Swap two cards, or only their values."""
    cards = _cards(content)
    if len(cards) < 2:
        return content
    first, second = random.sample(cards, 2)
    start = random.choice((0, 10))
    one, other = content[first + start : first + CARD], content[second + start : second + CARD]
    content = content[: first + start] + other + content[first + CARD :]
    return content[: second + start] + one + content[second + CARD :]


def _absurd_card(content: bytes, random: Random) -> bytes:
    """Give a keyword an absurd value, in its own card or in place of another."""
    key, value = random.choice(ABSURD).split("=", 1)
    card = f"{key:<8}= {value:>20}".encode()
    own = [at for at in _cards(content) if content[at : at + 8] == f"{key:<8}".encode()]
    cards = own or _cards(content)[4:]
    return _set(content, random.choice(cards), card) if cards else content


def _number_in_a_card(content: bytes, random: Random) -> bytes:
    """Change the size of an axis or another whole number."""
    cards = [at for at in _cards(content) if re.match(rb".{10} *-?\d+ *(/|$)", content[at : at + CARD])]
    if not cards:
        return content
    at = random.choice(cards)
    number = int(content[at + 10 : at + CARD].split(b"/")[0])
    changed = random.choice((number + 1, number - 1, -number, 0, 2 * number, 1000 * number, 2**31, 2**63))
    return _set(content, at, content[at : at + 10] + f"{changed:>20}".encode())


def _named(content: bytes, random: Random, keyword: bytes, values: tuple[str, ...]) -> bytes:
    cards = [at for at in _cards(content) if content[at : at + 5] == keyword]
    if not cards:
        return content
    at = random.choice(cards)
    return _set(content, at, content[at : at + 10] + f"'{random.choice(values)}'".encode("latin-1"))


def _column_name(content: bytes, random: Random) -> bytes:
    return _named(content, random, b"TTYPE", NAMES)


def _column_format(content: bytes, random: Random) -> bytes:
    return _named(content, random, b"TFORM", FORMATS)


def _numbers_of_data(content: bytes, random: Random) -> bytes:
    """Write a large, negative or zero number behind a header, where e.g. descriptors of variable length are."""
    ends = [at for at in range(0, len(content), CARD) if content[at : at + CARD].rstrip() == b"END"]
    if not ends:
        return content
    start = random.choice(ends) // BLOCK * BLOCK + BLOCK + 4 * random.randrange(30)
    number = random.choice((0, -1, 2**31 - 1, -(2**31), 2**24)).to_bytes(4, "big", signed=True)
    return content[:start] + number + content[start + 4 :]


# ---- text


def _lines(content: bytes, change: Callable[[list[bytes], int], None], random: Random) -> bytes:
    lines = content.split(b"\n")
    # Half of all in the first lines, where headers are.
    change(lines, random.randrange(len(lines) if random.random() < 0.5 else min(len(lines), 12)))
    return b"\n".join(lines)


def _cell(content: bytes, random: Random) -> bytes:
    def change(lines: list[bytes], at: int) -> None:
        words = re.split(rb"([\s,;|]+)", lines[at])
        words[random.randrange(len(words))] = random.choice(CELLS).encode()
        lines[at] = b"".join(words)

    return _lines(content, change, random)


def _line(content: bytes, random: Random) -> bytes:
    def change(lines: list[bytes], at: int) -> None:
        other = random.choice((*(line.encode() for line in LINES), *random.sample(lines, min(3, len(lines)))))
        lines[at : at + random.choice((0, 1))] = [other] * random.choice((0, 1, 1, 30))

    return _lines(content, change, random)


def _separators(content: bytes, random: Random) -> bytes:
    first, second = random.sample((b",", b";", b"\t", b" ", b"|", b".", b'"', b"#"), 2)
    return content.replace(first, second, random.choice((-1, 1, 50)))


def _encoding(content: bytes, random: Random) -> bytes:
    return content.decode("latin-1").encode(random.choice(("utf-16", "utf-16-le", "utf-16-be", "utf-8-sig", "utf-32")))


BYTES: tuple[Mutation, ...] = (_flip, _flip, _truncate, _fill, _append, _line_ends)
FITS: tuple[Mutation, ...] = (
    *(_card_bytes, _delete_card, _swap_cards, _absurd_card, _absurd_card, _number_in_a_card, _number_in_a_card),
    *(_column_name, _column_format, _numbers_of_data, _flip, _truncate, _line_ends, _fill, _append),
)
TEXT: tuple[Mutation, ...] = (_cell, _cell, _line, _line, _separators, _encoding, _line_ends, _truncate, _flip)
