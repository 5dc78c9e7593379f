"""The reviewer's inspection of a spectrum, and DESI's rules by which several are merged."""

from __future__ import annotations

import pytest

from reviewer.rules.inspection import Inspection, InspectionError, Merged, merge, scales_of_surveys


def test_one_person_is_the_result() -> None:
    merged = merge([Inspection("AB", z=0.3688, quality=4, issues="RC", spectype="QSO", comment="[O III], Hβ")])
    assert merged == Merged(("AB",), 0.3688, 4.0, "QSO", "RC", "AB: [O III], Hβ", ())
    assert merged.secure


def test_near_redshifts_and_qualities_are_averaged() -> None:
    # (0.103 - 0.1) / 1.1 = 0.0027: the same; the people are in alphabetical order.
    merged = merge([Inspection("CD", 0.103, 3, "S", "GALAXY", "faint"), Inspection("AB", 0.1, 2, "", "GALAXY", "")])
    assert merged.people == ("AB", "CD")
    assert merged.z == pytest.approx(0.1015)
    assert (merged.quality, merged.secure, merged.conflict) == (2.5, True, ())
    assert (merged.issues, merged.comments) == ("S", "CD: faint")


@pytest.mark.parametrize(
    ("inspection", "other", "conflict"),
    [
        # (0.1037 - 0.1) / 1.1 = 0.00336
        (Inspection("AB", 0.1, 4, "", "STAR"), Inspection("CD", 0.1037, 4, "", "STAR"), ("z",)),
        (Inspection("AB", 0.1, 4), Inspection("CD", 0.1, 2), ("quality",)),
        (Inspection("AB", 0.1, 4), Inspection("CD", 0.1, 3), ()),
        (Inspection("AB", 0.1, 4, "", "STAR"), Inspection("CD", 0.1, 4, "", "QSO"), ("class",)),
        (Inspection("AB", 0.0, 4, "", "STAR"), Inspection("CD", 2.1, 1, "", "QSO"), ("quality", "z", "class")),
    ],
)
def test_what_a_third_person_has_to_decide(
    inspection: Inspection, other: Inspection, conflict: tuple[str, ...]
) -> None:
    merged = merge([inspection, other])
    assert merged.conflict == conflict
    assert (merged.z is None) == ("z" in conflict)
    assert (merged.spectype == "") == ("class" in conflict or not inspection.spectype)
    assert (merged.quality is None) == ("quality" in conflict)


def test_what_a_person_leaves_open_is_the_pipelines() -> None:
    merged = merge([Inspection("AB", quality=4), Inspection("CD", z=0.37, quality=3)], 0.0001, "STAR Carbon")
    assert (merged.spectype, merged.conflict, merged.z) == ("STAR", ("z",), None)
    # A class of LAMOST that is none of the three is not taken over.
    assert merge([Inspection("AB", quality=4)], None, "Unknown").spectype == ""
    assert merge([Inspection("AB", quality=4)], None, "").z is None


@pytest.mark.parametrize(
    "wrong",
    [
        *({"z": z} for z in (-1.0, 21.0, float("nan"))),
        *({"quality": quality} for quality in (5, -1)),
        *({"issues": issues} for issues in ("CR", "RR", "X")),
        *({"spectype": "star"}, {"comment": "x" * 2001}),
    ],
)
def test_a_value_off_its_scale_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(InspectionError, match=r"found .*expected"):
        Inspection("AB", **wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("quality", "spectype", "scales"),
    [
        (4, "GALAXY", (4, 4, 4, 4)),
        (3, "QSO", (3, 3, 3, 3)),
        (4, "STAR", (6, -1, 4, 1)),
        (2, "STAR", (2, 2, 2, 1)),
        (1, "", (1, 1, 1, 0)),
        (0, "", (1, -2, 0, 0)),
        (None, "", (0, 0, 0, 0)),
    ],
)
def test_the_scales_of_other_surveys(quality: int | None, spectype: str, scales: tuple[int, ...]) -> None:
    assert tuple(scales_of_surveys(quality, spectype).values()) == scales
