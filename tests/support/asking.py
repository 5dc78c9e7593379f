"""One short turn asked of a model server, for tests of how it is asked."""

from agent.conversation import Stop
from agent.policies.openai.endpoint import Delta, Endpoint, Patience
from agent.policies.sampling import Sampling

MESSAGES = [{"role": "user", "content": [{"type": "text", "text": "Is it a star?"}]}]
HASTY = Patience(connect=2.0, first=20.0, between=20.0, tries=3, pause=0.01, longest_pause=0.05)
KEY = "sk-do-not-tell"


def turn(endpoint: Endpoint, sampling: Sampling | None = None) -> list[Delta]:
    return list(endpoint.stream(MESSAGES, sampling or Sampling(), Stop()))


def text(deltas: list[Delta]) -> str:
    return "".join(delta.text for delta in deltas)
