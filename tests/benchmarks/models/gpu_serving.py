"""GPU seconds per spectrum behind vLLM: a process of its own, started by ``gpu_figures``.

    python -m tests.benchmarks.models.gpu_serving '{"scale": "tiny", "zooms": [3], ...}'

It prints a row of ``COLUMNS`` as a line of JSON for each number of zooms and of conversations at once.
"""

from __future__ import annotations

import json
import math
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from agent.batch.sources import Source
from agent.policies.openai.endpoint import Endpoint
from tests.benchmarks.models.gpu_round import rows_output
from tests.benchmarks.models.published_sizes import NAME, SCALES, processor, write
from tests.benchmarks.models.replay import Comparison, Conversations, compared, inspected, serving, spectra
from tests.benchmarks.models.scripted import FixedLength, Scripted, repeatable_token
from tests.support.cli import free_port

SURVEY = 10_000_000
"""Spectra, for the cost by arithmetic."""
CONTEXT = 8192
PICTURE_GIB = 8.5 / 1024
"""Pixels of an overview as the model reads them, the largest picture: 476 tokens of 4 patches of 1,176 float32."""
ROOM = 2.5
"""The cache of pictures has room for so many times those of all conversations at once: those of ended conversations
are dropped only when the room is needed."""
DEFAULT_GIB = 4
"""vLLM's own cache of pictures."""
COLUMNS = {
    "zooms": "{}",
    "at once": "{}",
    "spectra": "{}",
    "prompt tokens": "{:.0f}",
    "of them cached": "{:.0%}",
    "written": "{:.0f}",
    "GPU s per spectrum": "{:.3f}",
    "without the agent": "{:.3f}",
    "agent's share: median, from, to": "{:.0%}, {:.0%}, {:.0%}",
    "GPU hours": "{:.0f}",
}


@dataclass(frozen=True)
class Serving:
    """What is measured.

    :param scale: key of ``SCALES``
    :param zooms: tool calls per spectrum
    :param concurrency: conversations at once
    :param batches: spectra per conversation at once
    :param turn_tokens: tokens that the model writes in each turn
    :param repeats: how often the agent and the same requests without it are measured
    :param python: a Python with vLLM
    """

    scale: str
    zooms: Sequence[int]
    concurrency: Sequence[int]
    batches: int
    turn_tokens: int
    repeats: int
    python: str


def main(text: str) -> None:
    with rows_output() as rows:
        for cells in measured(Serving(**json.loads(text))):
            rows.write(json.dumps(cells) + "\n")


def measured(wanted: Serving) -> Iterator[list[Any]]:
    """Serve the model and yield the cells of each row; see ``COLUMNS``."""
    scale = SCALES[wanted.scale]
    most = max(wanted.concurrency)
    sampling = FixedLength(max_tokens=wanted.turn_tokens, token=repeatable_token(processor(scale).tokenizer))
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        model = write(scale, folder / NAME)
        sources = spectra(folder / "spectra", most * wanted.batches)
        options = serve_options(model, most, max(wanted.zooms), wanted.python)
        variables = {} if scale.text else {"VLLM_CPU_KVCACHE_SPACE": "1"}
        with serving(options, folder / "vllm.log", variables) as url:
            inspected(url, sources[:most], partial(_policy, sampling, max(wanted.zooms)), most)
            for zooms in wanted.zooms:
                policy = partial(_policy, sampling, zooms)
                for concurrency in wanted.concurrency:
                    used: Sequence[Source] = sources[: concurrency * wanted.batches]
                    found = compared(url, used, policy, concurrency, wanted.repeats)
                    _check_turns(found.requests, len(used), zooms + 1)
                    yield _cells(found, zooms, concurrency, len(used))


def serve_options(model: Path, sequences: int, zooms: int, python: str) -> list[object]:
    """Return the options of ``spec-o3 serve`` for ``sequences`` conversations at once, each with ``zooms``."""
    options = ["--model", model, "--name", NAME, "--python", python, "--port", free_port(), "--context", CONTEXT]
    options += ["--sequences", sequences, "--images", zooms + 1]
    options += ["--", "--load-format", "dummy", "--enable-prompt-tokens-details"]
    return [*options, "--mm-processor-cache-gb", picture_cache(sequences, zooms)]


def picture_cache(sequences: int, zooms: int) -> int:
    """Return the GiB of vLLM's cache of pictures. A picture that is no longer there is sent again."""
    return max(DEFAULT_GIB, math.ceil(ROOM * sequences * (zooms + 1) * PICTURE_GIB))


def _policy(sampling: FixedLength, zooms: int, endpoint: Endpoint) -> Scripted:
    return Scripted(endpoint, sampling, zooms)


def _check_turns(requests: Conversations, conversations: int, turns: int) -> None:
    """:raises SystemExit: a conversation is missing, or has another number of turns"""
    if (found := list(map(len, requests))) != [turns] * conversations:
        raise SystemExit(
            f"turns: found {sorted(set(found))} in {len(found)} conversations, expected {turns} in all {conversations}"
        )


def _cells(found: Comparison, zooms: int, concurrency: int, count: int) -> list[Any]:
    agent, bare = found.middle.agent, found.middle.bare
    usage, each = agent.usage, agent.seconds / count
    return [
        *(zooms, concurrency, count, usage.prompt / count, usage.cached / usage.prompt, usage.completion / count),
        *(each, bare.seconds / count, [found.middle.share, *found.range], each * SURVEY / 3600),
    ]


if __name__ == "__main__":
    main(sys.argv[1])
