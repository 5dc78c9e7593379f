"""The lock files have what pyproject.toml asks for, by hash and by no address."""

from __future__ import annotations

import re
import tomllib

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from tests.conftest import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
CORE = [*PROJECT["project"]["dependencies"], *PROJECT["build-system"]["requires"]]
TEST = PROJECT["project"]["optional-dependencies"]["test"]


def text_of(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def locked_in(name: str) -> dict[str, list[Version]]:
    found: dict[str, list[Version]] = {}
    for package, version in re.findall(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)", text_of(name), re.MULTILINE):
        found.setdefault(canonicalize_name(package), []).append(Version(version))
    return found


@pytest.mark.parametrize(
    ("lock", "wanted"),
    [("requirements.lock", one) for one in CORE] + [("requirements-test.lock", one) for one in (*CORE, *TEST)],
)
def test_what_the_project_asks_for_is_locked_to_a_version_it_accepts(lock: str, wanted: str) -> None:
    requirement = Requirement(wanted)
    versions = locked_in(lock)[canonicalize_name(requirement.name)]
    assert all(requirement.specifier.contains(version) for version in versions)


def test_what_is_tested_is_what_is_run() -> None:
    core, test = locked_in("requirements.lock"), locked_in("requirements-test.lock")
    assert {name: test[name] for name in core} == core
    assert "pytest" not in core


@pytest.mark.parametrize("lock", ["requirements.lock", "requirements-test.lock"])
def test_every_package_is_bound_by_hash_and_by_no_address(lock: str) -> None:
    text = text_of(lock)
    entries = re.split(r"^(?=[A-Za-z0-9])", text, flags=re.MULTILINE)[1:]
    assert len(entries) > 80
    assert all("--hash=sha256:" in entry for entry in entries)
    assert "://" not in text
    assert "--index" not in text
