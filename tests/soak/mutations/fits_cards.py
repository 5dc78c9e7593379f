"""FITS files spoiled: the cards of their headers, and their blocks."""

from __future__ import annotations

import random
import re

from tests.soak.mutations.values import LONGEST, spoiled_bytes

_CARDS = (
    *(
        "NAXIS",
        "NAXIS1",
        "NAXIS2",
        "BITPIX",
        "PCOUNT",
        "GCOUNT",
        "TFIELDS",
        "TFORM1",
        "TFORM2",
        "TTYPE1",
        "TTYPE2",
    ),
    *(
        "CRVAL1",
        "CDELT1",
        "CRPIX1",
        "CD1_1",
        "CTYPE1",
        "CUNIT1",
        "BSCALE",
        "BZERO",
        "TSCAL1",
        "TZERO1",
        "EXTNAME",
    ),
    *(
        "ZIMAGE",
        "ZBITPIX",
        "ZNAXIS",
        "ZNAXIS1",
        "ZCMPTYPE",
        "SPECO3",
        "DC-FLAG",
        "WAT0_001",
        "WAT2_001",
        "RA",
        "DEC",
    ),
    *(
        "TELESCOP",
        "EXTEN0",
        "XTENSION",
        "SURVEY",
        "OBJECT",
        "TUNIT1",
        "TDIM1",
        "APNUM1",
        "Z",
        "COEFF0",
        "COEFF1",
    ),
)
_CARD_VALUES = (
    *(
        "0",
        "-1",
        "1",
        "2",
        "3",
        "8",
        "-64",
        "99",
        "2147483648",
        "9223372036854775807",
        "1" * 60,
        "T",
        "F",
        "''",
    ),
    *(
        "NaN",
        "1E400",
        "-1E-400",
        "'4000E'",
        "'1PE(9)'",
        "'0D'",
        "'999999999J'",
        "'WAVE'",
        "'nm'",
        "'LAMOST'",
        "garbage",
    ),
    *("'IMAGE'", "'BINTABLE'", "'RICE_1'", "'GZIP_1'", "'HCOMPRESS_1'", "'\x1b[31m'", "'spec-o3/spectrum/1'"),
)


def spoiled_fits(data: bytes, chance: random.Random) -> bytes:
    """A FITS file with a card changed, put in or taken out, a block moved, or its data spoiled."""
    cards = [at for at in range(0, len(data) - 79, 80) if re.match(rb"[A-Z0-9_-]{1,8} *= ", data[at : at + 80])]
    if not cards or chance.random() < 0.3:
        return spoiled_bytes(data, chance)
    at = chance.choice(cards)
    changed = bytearray(data)
    match chance.randrange(4):
        case 0:
            value = chance.choice(_CARD_VALUES)
            changed[at + 10 : at + 80] = value.rjust(20).ljust(70).encode("latin-1")[:70]
        case 1:
            key, value = chance.choice(_CARDS), chance.choice(_CARD_VALUES)
            changed[at : at + 80] = f"{key:8}= {value:>20}".ljust(80).encode("latin-1")[:80]
        case 2:
            changed[at : at + 80] = b" " * 80
        case _:
            block = chance.randrange(len(data) // 2880 + 1) * 2880
            there = chance.randrange(len(data) // 2880 + 1) * 2880
            changed[there:there] = data[block : block + 2880]
    return bytes(changed[:LONGEST])
