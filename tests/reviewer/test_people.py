"""Initials, roles, passwords and tokens."""

import pytest

from reviewer.rules.people import (
    PersonError,
    clean_initials,
    clean_name,
    clean_roles,
    hash_password,
    new_token,
    password_matches,
    token_hash,
)


@pytest.mark.parametrize(("typed", "kept"), [("ab", "AB"), (" ÅsL ", "ÅSL"), ("WXYZ", "WXYZ")])
def test_initials_are_two_to_four_letters_in_capitals(typed, kept):
    assert clean_initials(typed) == kept


@pytest.mark.parametrize("typed", ["", "a", "abcde", "a1", "a b", "<b>"])
def test_other_initials_are_refused_and_shown(typed):
    with pytest.raises(PersonError, match="wanted two to four letters"):
        clean_initials(typed)


@pytest.mark.parametrize("roles", [[], ["king"], ["reviewer", "king"]])
def test_unknown_roles_are_refused(roles):
    with pytest.raises(PersonError, match="wanted one or more of reviewer, auditor, coordinator"):
        clean_roles(roles)


def test_a_name_loses_its_stray_spaces_and_may_not_be_empty():
    assert clean_name("  Annie  Jump Cannon ") == "Annie Jump Cannon"
    with pytest.raises(PersonError):
        clean_name("  ")


def test_a_password_matches_its_own_hash_only():
    kept = hash_password("Hβ at 4861.3 Å")
    assert password_matches("Hβ at 4861.3 Å", kept)
    assert not password_matches("Hβ at 4861.4 Å", kept)


def test_two_hashes_of_one_password_differ_and_hold_their_parameters():
    first, second = hash_password("parallax"), hash_password("parallax")
    assert first != second
    assert first.split("$")[:4] == ["scrypt", "15", "8", "3"]
    assert "parallax" not in first


def test_a_hash_made_with_other_parameters_still_matches():
    # scrypt("password", "NaCl", N=1024, r=8, p=16), RFC 7914 section 12, the first 32 of its 64 bytes.
    rfc7914 = "fdbabe1c9d3472007856e7190d01e9fe7c6ad7cbc8237830e77376634b373162"
    assert password_matches("password", f"scrypt$10$8$16${b'NaCl'.hex()}${rfc7914}")


def test_nothing_matches_a_person_without_a_password():
    assert not password_matches("", None)
    assert not password_matches("anything", None)


def test_a_short_password_is_refused():
    with pytest.raises(PersonError, match="found 7 characters, wanted 8"):
        hash_password("seven77")


def test_tokens_differ_and_their_hashes_do_not_hold_them():
    first, second = new_token(), new_token()
    assert first != second
    assert first not in token_hash(first)
