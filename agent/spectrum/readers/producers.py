"""What the programs and telescopes that write spectra mean by what they write: the place to read it and to add to.

``PRODUCERS`` has an entry per producer: how its files are recognised, and what they leave unsaid. ``COLUMNS``,
``ERRORS`` and ``IMAGES`` have the names that columns and HDUs have anywhere. All names are regular expressions that a
name has to match as a whole, in lower case, with "_" for spaces and hyphens; the first that matches counts. What a file
states counts before what its producer is known for.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

from agent.language import deferred
from agent.spectrum.record import Frame, Medium

ErrorKind = Literal["sigma", "variance", "ivar"]
Role = Literal["wavelength", "flux", "errors", "mask"]


@dataclass(frozen=True)
class Mask:
    """What the numbers of a mask mean: a pixel is bad where any of ``bits`` is set; with ``good``, where all are 0.

    :param card: a header card that states the bits
    """

    bits: int = -1
    good: bool = False
    card: str = ""


@dataclass(frozen=True)
class Producer:
    """A kind of file. It is recognised by ``cards``, ``columns``, ``hdus`` and ``file``, all of them that are given.

    :param cards: cards of the primary header or of that of the spectrum, and what their values contain
    :param columns: columns that the table has, in lower case
    :param hdus: name of an HDU that the file has
    :param file: how the file's name begins
    :param lacks: a card that it does not have
    :param units: units that the file leaves out, by role
    :param roles: names that only this producer gives to columns, by role
    :param join: names of the tables that make a spectrum together; the others are not used
    :param refused: what the file is, where no spectrum in it could be inspected
    """

    name: str
    cards: Mapping[str, str] = field(default_factory=dict)
    columns: Collection[str] = ()
    hdus: str = ""
    file: str = ""
    lacks: str = ""
    survey: str = ""
    medium: Medium | None = None
    frame: Frame | None = None
    units: Mapping[Role, str] = field(default_factory=dict)
    roles: Mapping[Role, str] = field(default_factory=dict)
    errors: ErrorKind | None = None
    mask: Mask | None = None
    join: str = ""
    refused: str = ""


_FLAM = "erg s-1 cm-2 Å-1"
_FUSE_UNITS: Mapping[Role, str] = {"wavelength": "Angstrom", "flux": _FLAM}


def _pypeit(extraction: str, flux: str) -> Producer:
    """pypeit.readthedocs.io, "Spec1D output": extractions OPT (optimal) and BOX (boxcar), fluxes FLAM and COUNTS."""
    names: Mapping[Role, str] = {
        "wavelength": f"{extraction}_wave",
        "flux": f"{extraction}_{flux}",
        "errors": f"{extraction}_{flux}_ivar",
        "mask": f"{extraction}_mask",
    }
    units: Mapping[Role, str] = {"flux": f"1e-17 {_FLAM}" if flux == "flam" else "counts", "wavelength": "Angstrom"}
    return Producer(
        "PypeIt spec1d",
        columns=names.values(),
        medium="vacuum",
        roles=names,
        units=units,
        errors="ivar",
        mask=Mask(good=True),
    )


_SPACE = (
    *("HST", "JWST", "FUSE", "IUE", "GALEX", "EUCLID", "GAIA", "HUT", "WUPPE", "ORFEUS", "COPERNICUS", "SPITZER"),
    *("ISO", "AKARI", "ROMAN", "SPHEREx"),
)

PRODUCERS = (
    Producer(
        "ORIGIN",
        {"ORIGIN_V": "ORIGIN"},
        refused=deferred("a MUSE source of ORIGIN, with images, tables of lines and spectra in HDUs of its own"),
    ),
    # pypeit.readthedocs.io, "Coadd 1D output" and "Spec1D output": vacuum; the mask is 1 for good pixels.
    Producer("PypeIt OneSpec", {"DMODCLS": "OneSpec"}, ("wave", "mask"), medium="vacuum", mask=Mask(good=True)),
    *(_pypeit(extraction, flux) for extraction in ("opt", "box") for flux in ("flam", "counts")),
    Producer("PypeIt", {"PYP_SPEC": ""}, medium="vacuum"),
    # jwst-pipeline.readthedocs.io, "Data quality flags": bit 0 is DO_NOT_USE.
    Producer("JWST", {"TELESCOP": "JWST"}, survey="JWST", medium="vacuum", mask=Mask(bits=1)),
    # STIS and COS data handbooks, "Data quality": SDQFLAGS has the bits that count as serious. COS also has 1 for good.
    Producer(
        "HST COS",
        {"TELESCOP": "HST"},
        ("dq_wgt",),
        survey="HST",
        medium="vacuum",
        roles={"mask": "dq_wgt"},
        mask=Mask(good=True),
    ),
    Producer("HST", {"TELESCOP": "HST"}, ("dq",), survey="HST", medium="vacuum", mask=Mask(card="SDQFLAGS")),
    # Euclid Q1, SIR combined spectra: odd values, and those of 64 and more, are not to be used (IRSA's Q1 notebooks).
    Producer(
        "Euclid SIR",
        columns=("wavelength", "signal", "var"),
        survey="Euclid",
        medium="vacuum",
        mask=Mask(bits=~0b111110),
    ),
    # Gaia DR3 documentation 20.6.2; GaiaXPy writes the fluxes of a source in a row.
    Producer(
        "Gaia XP",
        columns=("wavelength", "flux", "flux_error", "source_id"),
        survey="Gaia XP",
        medium="vacuum",
        units={"wavelength": "nm", "flux": "W m-2 nm-1"},
    ),
    # DEEP2 DR4, "spec1d": two halves, by boxcar (Bxspf) or optimal (Horne) extraction; in air, as arc lines are tabled.
    Producer(
        "DEEP2",
        columns=("spec", "lambda", "ivar"),
        hdus="bxspf_[br]",
        survey="DEEP2",
        medium="air",
        join="bxspf_[br]",
        units={"wavelength": "Angstrom", "flux": "counts"},
    ),
    # stsci.edu, "CALSPEC": DATAQUAL is 1 for good pixels.
    *(
        Producer(
            "CALSPEC",
            {card: value},
            survey="CALSPEC",
            medium="vacuum",
            roles={"mask": "dataqual"},
            mask=Mask(good=True),
        )
        for card, value in (("MAPKEY", "calspec"), ("DBTABLE", "CRSPECTRUM"))
    ),
    # Means of SDSS spectra (Kesseli et al. 2017, ApJS 230, 16).
    Producer(
        "PyHammer",
        columns=("loglam", "flux", "properr"),
        survey="PyHammer",
        medium="vacuum",
        frame="rest",
        units={"flux": "relative"},
    ),
    # Le Borgne et al. 2003, A&A 402, 433; Sánchez-Blázquez et al. 2006, MNRAS 371, 703.
    Producer("STELIB", {"STARIDEN": "", "ISEXTINC": ""}, survey="STELIB", medium="air", frame="rest"),
    Producer(
        "MILES",
        {"CRVAL1": ""},
        file="miles",
        lacks="DC-FLAG",
        survey="MILES",
        medium="air",
        frame="rest",
        units={"flux": "relative"},
    ),
    # Cushing, Vacca & Rayner 2004, PASP 116, 362.
    Producer("SpeXtool", {"XUNITS": "", "YUNITS": "", "NORDERS": ""}, medium="vacuum"),
    # ESPRESSO pipeline manual: WAVE is vacuum, WAVE_AIR is air.
    Producer("ESPRESSO", {"INSTRUME": "ESPRESSO"}, medium="vacuum"),
    Producer("ESPRESSO", columns=("wave", "wave_air"), medium="vacuum"),
    # FUSE archival data handbook: files of its eight channels; spectra made of them state no units.
    Producer("FUSE", {"TELESCOP": "FUSE"}, survey="FUSE", medium="vacuum", units=_FUSE_UNITS),
    Producer(
        "FUSE", {"SPEC0": "[12][ab](lif|sic)|(lif|sic)[1-4]|fcal"}, survey="FUSE", medium="vacuum", units=_FUSE_UNITS
    ),
    *(Producer("a space telescope", {"TELESCOP": rf"^{name}\b"}, survey=name, medium="vacuum") for name in _SPACE),
)


def producer(
    cards: Iterable[Callable[[str], str]] = (), columns: Iterable[str] = (), hdus: Iterable[str] = (), file: str = ""
) -> Producer | None:
    """Return the producer of a file, None if it is not in the table.

    :param cards: for each header, a function that returns the value of a card as text, "" if there is none
    :param columns: names of the columns of the table with the spectrum
    :param hdus: names of all HDUs
    """
    headers, table, begin = tuple(cards), {plain(name) for name in columns}, file.lower()
    names = [plain(name) for name in hdus]
    known: dict[str, list[str]] = {}  # many entries ask for the same card

    def values(key: str) -> list[str]:
        if key not in known:
            known[key] = [text for card in headers if (text := card(key))]
        return known[key]

    def is_by(maker: Producer) -> bool:
        return (
            table.issuperset(maker.columns)
            and begin.startswith(maker.file)
            and all(any(_states(text, content) for text in values(key)) for key, content in maker.cards.items())
            and (not maker.hdus or any(re.fullmatch(maker.hdus, name) for name in names))
            and not (maker.lacks and values(maker.lacks))
        )

    return next(filter(is_by, PRODUCERS), None)


def refused(card: Callable[[str], str]) -> str | None:
    """Return what a file is that holds no spectrum that could be inspected; None for any other file.

    :param card: returns the value of a card of the primary header as text
    """
    for maker in PRODUCERS:
        if maker.refused and all(_states(card(key), value) for key, value in maker.cards.items()):
            return maker.refused
    return None


def _states(text: str, content: str) -> bool:
    return bool(text) and re.search(content, text, re.IGNORECASE) is not None


BRACKETS = r"[\[(](?:[^()\[\]]|\([^()]*\))*[\])]"
"""What is in brackets, with brackets inside."""


@lru_cache(maxsize=1024)
def plain(name: str) -> str:
    """Return a name as the tables here write it: lower case, "_" for spaces and hyphens, no unit in brackets."""
    return re.sub(r"[\s-]+", "_", re.sub(rf"{BRACKETS}?", "", name).strip().lower())


_F = r"(?:flux(?:es)?|flam|f_?lam(?:bda)?|f_?nu|flux_?density|spec(?:trum)?|counts|signal|sci|data|f)"
_OF_FLUX = rf"(?:{_F}_?)?(?:%s)(?:_?{_F})?"

COLUMNS: Mapping[str, tuple[str, ...]] = {
    "wavelength": (
        *("wavelength", "wave", "lambda", "lam", "wl", "wavelengths?", "angstroms?", "wvl", "wlen", "waves"),
        *(
            "wave_air",
            "wave_vac",
            r"(wave(lengths?)?|lam(bda)?)_?(air|vac(uum)?)",
            "(air|vac(uum)?)_?(wave(length)?|lam(bda)?)",
        ),
    ),
    "log10": ("log(10)?_?(lam|lambda|wave|wavelength|wl)",),
    "ln": ("ln_?(lam|lambda|wave|wavelength|wl)",),
    "frequency": ("freq(uency)?", "nu"),
    "energy": ("energy",),
    "wavenumber": ("wave_?num(ber)?", "wn"),
    "flux": (
        *("flux", "flam", "f_?lam(bda)?", "flux_?density", "fluxes", "spec", "spectrum", "f_?nu", "signal"),
        *("(rel(ative)?|norm(ali[sz]ed)?|cal(ibrated)?)_?flux", "intensity", "counts"),
    ),
    "model": ("model", "best_?fit"),
    "mask": ("mask", "and_?mask", "flags?", "dq", "qual(ity)?", "bad_?pix(els?)?"),
    "good": ("good(_?pix(els?)?)?", "valid"),
}
"""By what a column holds; ``good`` is a mask that is true for good pixels."""

ERRORS: Mapping[ErrorKind, str] = {
    "ivar": _OF_FLUX % r"ivar|inv_?var(?:iance)?|inverse_?variance",
    "sigma": (
        _OF_FLUX
        % r"err(?:or)?s?|sig(?:ma)?|std_?(?:err(?:or)?|ev|dev)?|st_?dev|unc(?:ert(?:aint(?:y|ies))?)?|noise|rms"
        r"|stat_?err(?:or)?|properr"
    )
    + rf"|[ed]_?{_F}|{_F}_?e",
    "variance": _OF_FLUX % r"var(?:iances?)?|stat",
}

IMAGES: Mapping[str, str] = {
    "flux": r"flux(_?data)?|data|sci|spec(trum)?",
    "wavelength": r"wave(length)?s?|lam(bda)?",
    "log10": r"log_?(lam(bda)?|wave)",
    "mask": r"mask|dq|and_?mask|flags?|qual(ity)?",
}
"""Names of HDUs that are images, by what they hold; those of errors are in ``ERRORS``."""

UNITS: Mapping[str, str] = {
    **dict.fromkeys(("a", "aa", "å", "ang", "angstroem", "ångström", "ångstrom", "ångstroms", "0.1 nm"), "Angstrom"),
    **dict.fromkeys(("nanometer", "nanometre", "nano-meter", "nanom", "nmeter"), "nm"),
    **dict.fromkeys(("micron", "micrometer", "micrometre", "mu", "um", "µm", "microm", "mum", "umeter"), "um"),
    **dict.fromkeys(("metre", "meter"), "m"),
    **dict.fromkeys(("cm-1", "1/cm", "cm^-1", "kayser", "cm**-1"), "1 / cm"),
}
"""Spellings of units of wavelength that astropy does not know, in lower case without a plural s."""
