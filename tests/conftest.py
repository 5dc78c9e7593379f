"""Fixtures every test may ask for."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# A busy machine is no fault of the code: no property fails for being slow.
settings.register_profile("spec-o3", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("spec-o3")

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def shared() -> Path:
    """Real survey files and published answers beside the checkout; where absent, the test skips."""
    folder = ROOT.parent / "shared"
    if not (folder / "conformance").is_dir():
        pytest.skip("no shared/ folder beside the checkout")
    return folder
