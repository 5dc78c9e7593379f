"""requirements.lock has what pyproject.toml asks for, by hash, from no particular place."""

from __future__ import annotations

import re
import tomllib

import pytest
from conftest import ROOT
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

LOCK = (ROOT / "requirements.lock").read_text(encoding="utf-8")
LOCKED: dict[str, list[str]] = {}
for _name, _version in re.findall(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)", LOCK, re.MULTILINE):
    LOCKED.setdefault(canonicalize_name(_name), []).append(_version)
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


@pytest.mark.parametrize("wanted", [*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["test"]])
def test_what_the_project_asks_for_is_locked_to_a_version_it_accepts(wanted: str) -> None:
    requirement = Requirement(wanted)
    versions = LOCKED[canonicalize_name(requirement.name)]
    assert all(requirement.specifier.contains(Version(version)) for version in versions)


def test_every_package_is_bound_by_hash_and_by_no_address() -> None:
    entries = re.split(r"^(?=[A-Za-z0-9])", LOCK, flags=re.MULTILINE)[1:]
    assert len(entries) > 80
    assert all("--hash=sha256:" in entry for entry in entries)
    assert "://" not in LOCK
    assert "--index" not in LOCK
