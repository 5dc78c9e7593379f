"""Policy for a Spec-o3 model in this process, without a server.

One model is loaded at a time, on first use, and one turn is written at a time; other conversations wait.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue
from threading import Event
from typing import Any

from agent.conversation import Conversation, Piece, SkySource
from agent.language import deferred
from agent.policies import Sampling
from agent.policies.local.chat_template import form_in
from agent.policies.local.model import Loaded, TurnStopped, Weights, versions
from agent.policies.openai.health import Health
from agent.policies.spec_o3 import messages, tool_settings
from agent.trajectory import Drafter
from agent.trajectory.forms import SPEC_O3

_worker = ThreadPoolExecutor(1, thread_name_prefix="local model")
# Modified only by the worker.
_held: dict[Weights, Loaded] = {}


class _End:
    """End of the pieces; ``error`` if it came too early."""

    def __init__(self, error: Exception | None = None) -> None:
        self.error = error


class Local:
    """The policy.

    :param model: a folder, or the name of a repository on the Hugging Face Hub, which is then downloaded
    :param adapter: a PEFT adapter, given in the same way
    :param measure: offer the ``measure`` tool, for a model that was trained with it; ``sky``: offer ``sky_context``,
        with these records
    """

    def __init__(
        self,
        model: str,
        adapter: str | None = None,
        device: str = "auto",
        dtype: str = "auto",
        sampling: Sampling | None = None,
        measure: bool = False,
        sky: SkySource | None = None,
    ) -> None:
        self.measure = measure
        self.sky = sky
        self.weights = Weights(model, adapter, device, dtype)
        self.sampling = sampling or Sampling()

    @property
    def drafter(self) -> Drafter:
        """The model, its sampling and the library versions; also the device once it is loaded."""
        form = form_in(self.weights.adapter) or form_in(self.weights.model) or SPEC_O3
        settings: dict[str, Any] = {
            **tool_settings(form, self.measure, self.sky),
            "server": "transformers, in process",
            "dtype": self.weights.dtype,
            **self.sampling.settings(),
            **versions(),
        }
        if (loaded := _held.get(self.weights)) is not None:
            reported = {"device": loaded.device, "dtype": loaded.dtype, "revision": loaded.revision}
            settings |= {name: value for name, value in reported.items() if value}
        return Drafter("model", self.weights.name, settings)

    def check(self) -> Health:
        """Check whether it can be loaded, without loading it."""
        name = self.weights.name
        if problem := self.weights.problem():
            return Health(False, problem, name)
        installed = versions()
        loaded = _held.get(self.weights)
        if loaded:
            sentence = deferred("{name}, in this process, on {device}", name=name, device=loaded.device)
        else:
            sentence = deferred("{name}, in this process, loaded on first use", name=name)
        context = loaded.context if loaded else None
        return Health(True, sentence, name, "transformers", installed["transformers"], context)

    def turn(self, conversation: Conversation) -> Iterator[Piece]:
        """Stream the next turn."""
        pieces: SimpleQueue[Piece | _End] = SimpleQueue()
        closed = Event()
        stop = conversation.stop

        def halted() -> bool:
            return closed.is_set() or stop.is_set

        written = _worker.submit(self._write, conversation, pieces.put, halted)
        with stop.waking(lambda: pieces.put(_End())):
            try:
                while not isinstance(piece := pieces.get(), _End):
                    yield piece
                if piece.error is not None:
                    raise piece.error
            finally:
                closed.set()
                written.cancel()

    def _write(
        self, conversation: Conversation, put: Callable[[Piece | _End], None], halted: Callable[[], bool]
    ) -> None:
        """Write the turn; runs on the worker's thread."""
        try:
            if not halted():
                loaded = _loaded(self.weights)
                seen = [exchange.observation for exchange in conversation.exchanges]
                images = [conversation.overview, *(answer.image for answer in seen if answer and answer.image)]
                if opening := loaded.form.opening:
                    put(opening)
                loaded.write(messages(conversation, loaded.form), images, self.sampling, put, halted)
            put(_End())
        except TurnStopped:
            put(_End())
        except Exception as error:
            put(_End(error))


def _loaded(weights: Weights) -> Loaded:
    """Return the model, loading it if needed. It replaces another one: two seldom fit into memory."""
    if weights not in _held:
        _held.clear()
        _held[weights] = Loaded.load(weights)
    return _held[weights]
