"""Fixtures every test may ask for."""

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def shared() -> Path:
    """Real survey files and published answers kept beside the checkout; absent elsewhere, then the test skips."""
    folder = ROOT.parent / "shared"
    if not (folder / "conformance").is_dir():
        pytest.skip("no shared/ folder beside the checkout")
    return folder
