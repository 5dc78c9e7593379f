"""Which spectra are of one object, by the positions and names in their files, and when each was observed.

Two spectra are of one object if their positions agree within ``RADIUS``, or if they share a name. Names and positions
may contradict each other: one name at places more than ``NAMED_RADIUS`` apart, or two numbers of one catalogue (GJ 65A
and GJ 65B, two Gaia sources) at one place, are two objects. So is the same star without a name after it has moved by
more than ``RADIUS``: fast stars do within some years.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agent.spectrum.names import parts

RADIUS = 2.0
"""Arcseconds within which two positions are the same: fibres and slits of surveys are pointed to better than that."""
NAMED_RADIUS = 60.0
"""Arcseconds that positions under one name may differ: proper motion, and headers with the telescope's position."""
MOST_PLACES = 8
"""A name that stands at more places of the sky than this names no object, but a field, a class or a programme."""
MOST_OF_FILE = 4
"""A place that more spectra of one file share is where the telescope pointed: many fibres under one header."""

_NUMBERED = {"gaia_dr3": "GAIADR3", "source_id": "GAIADR3", "sdss_id": "SDSSID"}
"""Identifiers of catalogues with one number for an object, so that two numbers are two objects."""
_NUMBERS = ("targetid", "catalogid", "thing_id", "bestobjid")
"""Identifiers that name an object, of which one object may have several."""
_LONGEST = 80  # letters of a name; longer texts are remarks
_FREE = ("object", "designation", "object_id", "objectid", "id")
ID_KEYS = (*_NUMBERED, *_NUMBERS, *_FREE)
"""Identifiers that ``identity_of`` reads."""
_ARCSEC = np.pi / 180 / 3600
_SIMBAD = re.compile(r"^(?:V\*|EM\*|CL\*|\*+|NAME )\s*")
_EXPOSURE = re.compile(r"(?:(?<=\d)[_#]\d{1,2}|[ _#-]*(?:EXP|PHASE|EPOCH|NIGHT|VISIT|RUN)[A-Z]*[ _.#:=-]*[\d.]+)$")
_ZEROS = re.compile(r"(?<=[A-Z])(?<!J)0+(?=\d)")
_CLASSES = r"[OBAFGKMLT]\d(?:\.\d)?(?:I{1,3}|IV|V)?E?|D[ABCOQZ]\d?|CVS?|WDS?|SN[EI]?[A-C]?|PNE?|AGN|QSOS?|RRLYR"
_WORDS = (
    r"UNKNOWN|UNNAMED|ANON|NONE|NULL|NAN?|N/A|TBD|SPECTR(?:UM|A)|SPEC|STAR|OBJ(?:ECT)?|TARG(?:ET)?|SOURCE|SRC|"
    r"SCI(?:ENCE)?|STANDARD|STD|TEST|DEMO|CAND(?:IDATE)?|FIELD|SKY|BLANK|FLUX|FIB(?:ER|RE)|SLIT|ROW|APERTURE|ARC|LAMP|"
    r"FLAT|BIAS|GALAXY|QUASAR|SUPERNOVA|NOVA|BINARY|VARIABLE|DWARF|GIANT|CARBON|SYMBIOTIC|WHITE|RED|BLUE|HOT|COOL|MY|"
    r"THE|NO|NAME|ID|IMAGE|EXP(?:OSURE)?|OBS|FRAME|FILE|[-#.:/(),]"
)
_GENERIC = re.compile(rf"(?:{_WORDS})*\d{{0,5}}[A-Z]?|(?:{_WORDS}|{_CLASSES})*")
_FILE = re.compile(r".*\.(?:FITS?|FZ|GZ|TXT|DAT|CSV|ASCI+|SPEC|JSON|VOT|XML)")
_PLATE = re.compile(r"\d{3,5}-\d{5}-[\w-]+")
_PLACED = re.compile(r"J\d{4}[\d.]*[+-]\d.*")
"""Names that are a position say of it what the position says."""
_GAIA = re.compile(r"(GAIAE?DR\d)(\d{6,})")
_NUMBER_OF = re.compile(r"([A-Z][A-Z+*-]*)(\d.*)")


@dataclass(frozen=True)
class Identity:
    """What a file says about which object it is of.

    :param names: (catalogue, name); the catalogue is "" where an object may have several such names
    :param ra: degrees, ICRS; ``dec`` too; None: not known
    :param file: that the spectrum is one of several of; "" where it is alone
    """

    names: tuple[tuple[str, str], ...] = ()
    ra: float | None = None
    dec: float | None = None
    file: str = ""

    @property
    def is_known(self) -> bool:
        """Whether there is a position or a name."""
        return bool(self.names) or (self.ra is not None and self.dec is not None)


def identity_of(name: str, ids: Mapping[str, str], ra: float | None, dec: float | None) -> Identity:
    """Return what the fields of a ``Spectrum`` say. The name of a file is no name of an object.

    :param name: of the file, with ``#`` and target where it is one of several
    """
    file, mark, _ = parts(name)
    numbers = {key: value for key, value in ids.items() if value.isdigit() and value.strip("0")}
    names = [(_NUMBERED[key], value) for key, value in numbers.items() if key in _NUMBERED]
    names += [("", f"{key} {value}") for key, value in numbers.items() if key in _NUMBERS]
    names += [named for key in _FREE if (named := object_name(str(ids.get(key, "")))) is not None]
    known = ra is not None and dec is not None and (ra, dec) != (0, 0) and abs(dec) <= 90
    return Identity(tuple(dict.fromkeys(names)), ra if known else None, dec if known else None, file if mark else "")


def object_name(text: str) -> tuple[str, str] | None:
    """Return the (catalogue, name) by which spellings of one name are equal; None where it names no object: empty,
    a word such as "star 3" or "Unknown", a class, a short number, a file, a fibre of a plate.
    """
    plain = _SIMBAD.sub("", unicodedata.normalize("NFKC", text).upper().replace("\N{MINUS SIGN}", "-").strip())
    if len(plain) > _LONGEST or _FILE.fullmatch(plain) or _PLATE.fullmatch(plain):
        return None
    plain = _ZEROS.sub("", re.sub(r"[\s_]+", "", _EXPOSURE.sub("", plain)))
    if len(plain) < 3 or _GENERIC.fullmatch(plain):
        return None
    if placed := _PLACED.search(plain):
        return "", placed[0]
    number = _GAIA.fullmatch(plain) or _NUMBER_OF.fullmatch(plain)
    if number is None:  # U GEM, but not 1ES 1959+650
        return ("name" if plain.isalpha() else ""), plain
    return number[1], number[2]


def objects(identities: Sequence[Identity]) -> NDArray[np.intp]:
    """Return the number of the first spectrum of each object (n,); a spectrum without name and position is alone.

    A name is looked at before positions, and near positions before far ones; what contradicts a group does not join it.
    """
    groups = _Groups(identities)
    for members in groups.by_name().values():
        firsts: list[int] = []
        for member in members:
            if not any(groups.join(first, member) for first in firsts):
                firsts.append(member)
    for member, neighbour in groups.near():
        groups.join(member, neighbour)
    return np.array([groups.first(member) for member in range(len(identities))], dtype=np.intp)


class _Groups:
    """Spectra that join unless names or places contradict each other."""

    def __init__(self, identities: Sequence[Identity]) -> None:
        self._names = [identity.names for identity in identities]
        self._first = list(range(len(identities)))
        sky = np.array([(i.ra, i.dec) if i.ra is not None else (np.nan, np.nan) for i in identities], dtype=float)
        ra, dec = np.radians(sky.reshape(-1, 2)).T
        self._at = np.column_stack((np.cos(dec) * np.cos(ra), np.cos(dec) * np.sin(ra), np.sin(dec))) / _ARCSEC
        cells = Counter((i.file, i.ra, i.dec) for i in identities if i.file)
        for member, identity in enumerate(identities):
            place = identity.file, identity.ra, identity.dec
            if identity.file and identity.ra is not None and cells[place] > MOST_OF_FILE:
                self._at[member] = np.nan
                self._names[member] = tuple(name for name in identity.names if name[0] in _NUMBERED.values())
        self._numbers = [{catalogue: name for catalogue, name in names if catalogue} for names in self._names]
        self._x, self._y, self._z = self._at.T.tolist()
        # A member with the place of the group; -1: none is known.
        self._placed = np.where(np.isnan(self._at[:, 0]), -1, self._first).tolist()

    def first(self, member: int) -> int:
        while self._first[member] != member:
            self._first[member] = member = self._first[self._first[member]]
        return member

    def join(self, member: int, other: int) -> bool:
        """Join the groups of two spectra; return False where they contradict each other."""
        first, second = sorted((self.first(member), self.first(other)))
        if first == second:
            return True
        numbers, others = self._numbers[first], self._numbers[second]
        if any(numbers.get(catalogue, name) != name for catalogue, name in others.items()):
            return False
        a, b = self._placed[first], self._placed[second]
        x, y, z = self._x, self._y, self._z
        if min(a, b) >= 0 and (x[a] - x[b]) ** 2 + (y[a] - y[b]) ** 2 + (z[a] - z[b]) ** 2 > NAMED_RADIUS**2:
            return False
        self._first[second] = first
        self._numbers[first] = {**others, **numbers}
        self._placed[first] = a if a >= 0 else b
        return True

    def by_name(self) -> dict[tuple[str, str], list[int]]:
        """Return the spectra of each name of two or more that stands at few places."""
        members: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
        for member, names in enumerate(self._names):
            for name in names:
                members[name].append(member)

        places = _cells(np.nan_to_num(self._at), 2 * NAMED_RADIUS).tolist()
        nowhere = int(_cells(np.zeros(3), 1.0))
        return {
            name: of
            for name, of in members.items()
            if len(of) > 1 and len({places[i] for i in of} - {nowhere}) <= MOST_PLACES
        }

    def near(self) -> Iterable[tuple[int, int]]:
        """Return pairs within ``RADIUS``, the nearest first. Those of one cell of a tenth of it stand for one place, so
        that thousands of epochs of one object make few pairs.
        """
        from scipy.spatial import cKDTree

        placed = np.flatnonzero(~np.isnan(self._at[:, 0]))
        if placed.size < 2:
            return []
        _, firsts, of = np.unique(_cells(self._at[placed], RADIUS / 10), return_index=True, return_inverse=True)
        at = self._at[placed[firsts]]
        pairs = cKDTree(at).query_pairs(RADIUS, output_type="ndarray")
        apart = np.linalg.norm(at[pairs[:, 0]] - at[pairs[:, 1]], axis=1)
        pairs = placed[firsts[pairs[np.argsort(apart, kind="stable")]]]
        shared = np.column_stack((placed[firsts[of]], placed))
        both = np.concatenate((shared[shared[:, 0] != shared[:, 1]], pairs))
        return zip(both[:, 0].tolist(), both[:, 1].tolist(), strict=True)


def _cells(at: NDArray[np.float64], size: float) -> NDArray[np.int64]:
    """Return the number of the cell of each place on the unit sphere, both in arcseconds: (..., 3) -> (...)."""
    x, y, z = np.moveaxis(np.round(at / size).astype(np.int64) + (1 << 20), -1, 0)
    cells: NDArray[np.int64] = x + (y << 21) + (z << 42)
    return cells


_MJD_0 = datetime(1858, 11, 17, tzinfo=UTC)
_DAYS = ("mjd-obs", "mjd_obs", "mjd", "hjd", "bjd", "jd")
_DATES = ("date-obs", "date_obs", "dateobs")


def observed_at(ids: Mapping[str, str], meta: Mapping[str, Any]) -> float | None:
    """Return the MJD at which a spectrum was observed, a whole number where only the night is known; None: not stated.

    Heliocentric and barycentric dates are taken as they are: they differ by 8 minutes at most.
    """
    known = {key.lower(): value for key, value in meta.items()}
    if str(known.get("u_time", "")).lower() in ("mjd", "jd"):
        known.setdefault("jd", known.get("time"))
    for key in _DATES:
        with suppress(ValueError):
            at = datetime.fromisoformat(str(known.get(key, "")).strip())
            return (at.replace(tzinfo=at.tzinfo or UTC) - _MJD_0) / timedelta(days=1)
    nights = (ids.get("plate-mjd-fiber", "").split("-")[1:2], ids.get("lmjd-planid-spid-fiberid", "").split("-")[:1])
    for value in (*(known.get(key) for key in _DAYS), *(text for night in nights for text in night)):
        with suppress(TypeError, ValueError):
            day = float(value)  # type: ignore[arg-type]
            day -= 2_400_000.5 if day > 2_400_000 else 0.0
            if 15_000 < day < 100_000:
                return day
    return None


def date_text(mjd: float) -> str:
    """Return an MJD as "2021-03-24 05:19", in UTC; without a time for a whole number."""
    at = _MJD_0 + timedelta(days=mjd)
    return f"{at:%Y-%m-%d}" if mjd == int(mjd) else f"{at + timedelta(seconds=30):%Y-%m-%d %H:%M}"
