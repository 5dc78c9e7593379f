"""Fixtures and markers of all tests."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

EXAMPLES = 50
# A busy machine is no fault of the code: no property fails for being slow. Each run tries the same examples, so that a
# failure is one of the change that is tested; `pytest --hypothesis-profile=long` tries many others each time.
_PATIENT = settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("spec-o3", _PATIENT, derandomize=True)
settings.register_profile("long", _PATIENT, max_examples=30 * EXAMPLES)
settings.load_profile("spec-o3")

# Workers share the cores: threads of numpy in each would wait for one another, a third of the time of some tests.
os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"))

# Messages are compared in English, whatever the language of the developer; commands are started with it too.
os.environ["LANGUAGE"] = "en"

ROOT = Path(__file__).resolve().parents[1]
TESTS = ROOT / "tests"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark the tests of tests/browser and tests/models by their folder; leave out those that need the network."""
    if "live_services" not in config.option.markexpr:
        items[:] = [item for item in items if item.get_closest_marker("live_services") is None]
    for item in items:
        folder = item.path.relative_to(TESTS).parts[0] if item.path.is_relative_to(TESTS) else ""
        if folder in ("browser", "models"):
            item.add_marker(folder)


@pytest.fixture(autouse=True)
def own_trained_prompts(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the prompts that the developer has imported out of the tests."""
    monkeypatch.setenv("SPEC_O3_PROMPTS", str(tmp_path_factory.getbasetemp() / "not-imported.json"))


@pytest.fixture(scope="session")
def shared() -> Path:
    """Real survey files and published answers beside the checkout; where absent, the test skips."""
    folder = ROOT.parent / "shared"
    if not (folder / "conformance").is_dir():
        pytest.skip("no shared/ folder beside the checkout")
    return folder
