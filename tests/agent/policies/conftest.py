"""Fixtures of the tests of the policies."""

import pytest


@pytest.fixture(autouse=True)
def patient_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a busy machine answer a request about a server late; tests of a late answer set their own limit."""
    monkeypatch.setattr("agent.policies.openai.client.INFO_SECONDS", 60.0)
