"""Pictures named by UUID: what is sent, and what happens when the server no longer has one."""

import asyncio
import copy
import json
import pickle
from collections.abc import AsyncIterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import pytest

from agent import tasks
from agent.conversation import PolicyError
from agent.loop import run
from agent.policies.openai.endpoint import Endpoint
from agent.policies.openai.errors import ErrorResponse
from agent.policies.openai.pictures import MOST, MOST_REFUSED, WINDOW, Pictures, takes_uuids
from agent.policies.spec_o3 import SpecO3
from agent.simulate import simulate
from agent.tool import overview
from agent.trajectory.messages import DataUrl, data_url
from tests.support.model_server import (
    HASTY,
    Asked,
    BadServer,
    Behaviour,
    Cut,
    Say,
    Status,
    answer,
    look,
    problem,
    talking,
)

CV = tasks.load()["cv"]
TURNS = (look(6400, 6700), look(4800, 4920), look(5800, 5950), answer("YES"))
MISSING = "Cache miss for image at index {} but data is not provided."
MESSAGES = [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": DataUrl.of(b"png")}}]}]
NO_CACHE = "Failed to apply Qwen2_5_VLProcessor on data={'images': [None]}"


class PictureServer(BadServer):
    """Keeps pictures by UUID as vLLM does; ``has_cache`` False: it refuses each picture without bytes."""

    version = "0.32.0"
    has_cache = True

    def __enter__(self) -> "PictureServer":
        self.kept: set[str] = set()
        self.sent: list[str] = []  # the UUID of each picture that came with its bytes, "" without one
        super().__enter__()
        return self

    def _about_itself(self, path: str) -> Status:
        return Status(200, {"version": self.version}) if path == "/version" else super()._about_itself(path)

    def _behaviour(self, request: Asked) -> Behaviour:
        for number, part in enumerate(pictures(request.body)):
            if part["image_url"] is None and not (self.has_cache and part["uuid"] in self.kept):
                return problem(400, MISSING.format(number) if self.has_cache else NO_CACHE)
            if part["image_url"] is not None:
                self.sent.append(part.get("uuid", ""))
                self.kept.add(part.get("uuid", ""))
        return super()._behaviour(request)


def pictures(body: Mapping[str, Any] | None) -> list[Mapping[str, Any]]:
    contents = [message["content"] for message in (body or {}).get("messages", ())]
    return [part for content in contents if isinstance(content, list) for part in content if "image_url" in part]


def endpoint_of(server: BadServer) -> Endpoint:
    endpoint = Endpoint(server.url, limits=HASTY)
    endpoint.check()
    return endpoint


def inspected(endpoint: Endpoint, seed: int = 1, stream: bool = False) -> None:
    trace = run(simulate("cv", "LAMOST", 20.0, seed), CV, SpecO3(endpoint, stream=stream))
    assert trace.answer is not None


@pytest.mark.parametrize("stream", [False, True])
def test_each_picture_is_sent_once_and_then_named(stream):
    with PictureServer(talking(TURNS)) as server:
        endpoint = endpoint_of(server)
        inspected(endpoint, stream=stream)
        inspected(endpoint, seed=2, stream=stream)
    assert len(server.sent) == len(set(server.sent)) == 8
    assert "" not in server.sent
    named = [[part["image_url"] is None for part in pictures(request.body)] for request in server.chats[:4]]
    assert named == [[False], [True, False], [True, True, False], [True, True, True, False]]


def test_the_same_uuid_means_the_same_file_and_other_pictures_have_others():
    one, same, other = (overview(simulate("cv", "LAMOST", 20.0, seed)) for seed in (1, 1, 2))
    assert data_url(one) is data_url(one)
    assert data_url(one) == data_url(same)
    assert data_url(one).uuid == data_url(same).uuid != data_url(other).uuid


def test_a_data_url_is_text_for_everybody_else():
    url = DataUrl.of(b"png")
    assert json.loads(json.dumps(url)) == url == "data:image/png;base64,cG5n"
    for copied in (copy.deepcopy(url), pickle.loads(pickle.dumps(url))):
        assert (copied, copied.uuid) == (url, url.uuid)


@pytest.mark.parametrize(
    ("server", "version", "expected"),
    [
        ("vLLM", "0.32.0", True),
        ("vLLM", "0.22.0.post1", True),
        ("vLLM", "0.32.0rc1.dev3+g123.cpu", True),
        ("vLLM", "0.12.0", False),
        ("vLLM", "dev", False),
        ("SGLang", "0.32.0", False),
    ],
)
def test_only_a_vllm_that_takes_uuids_gets_them(server, version, expected):
    assert takes_uuids(server, version) is expected


@pytest.mark.parametrize("checked", [True, False])
def test_an_older_or_unknown_server_gets_the_pictures_as_before(checked):
    with BadServer(talking(TURNS)) as server:
        endpoint = endpoint_of(server) if checked else Endpoint(server.url, "spec-o3", limits=HASTY)
        inspected(endpoint)
    parts = [part for request in server.chats for part in pictures(request.body)]
    assert len(parts) == 1 + 2 + 3 + 4
    assert all(set(part) == {"type", "image_url"} and part["image_url"]["url"] for part in parts)


def test_a_picture_that_the_server_lost_is_sent_again_in_the_same_turn():
    with PictureServer(talking(TURNS)) as server:
        endpoint = endpoint_of(server)
        turns = talking(TURNS)

        def lose(body):
            if len(pictures(body)) == 2:
                server.kept.clear()
            return turns(body)

        server.answers = lose
        inspected(endpoint)
        assert endpoint._pictures.is_used
    # The overview and the first zoom, which the third turn names, are sent again.
    assert len(server.sent) == 4 + 2
    assert len(server.chats) == 4 + 1


def test_a_server_without_a_cache_is_asked_once():
    with PictureServer(talking(TURNS)) as server:
        server.has_cache = False
        endpoint = endpoint_of(server)
        inspected(endpoint)
        inspected(endpoint, seed=2)
        assert not endpoint._pictures.is_used
    assert len(server.chats) == 4 + 1 + 4
    assert all("uuid" not in part for request in server.chats[3:] for part in pictures(request.body))


def test_an_error_of_another_reason_is_reported_after_one_request_with_all_pictures():
    with PictureServer([Say(TURNS[0]), problem(400, "maximum context length is 10"), Say("never")]) as server:
        server.answers = lambda body: Say(TURNS[0]) if len(pictures(body)) == 1 else problem(400, "no such colour")
        endpoint = endpoint_of(server)
        with pytest.raises(PolicyError, match="no such colour"):
            inspected(endpoint)
        assert endpoint._pictures.is_used
    assert len(server.chats) == 3


def test_a_request_that_failed_leaves_no_picture_to_others():
    with PictureServer([Status(503), Status(503), Status(503), *map(Say, TURNS)]) as server:
        endpoint = endpoint_of(server)
        with pytest.raises(PolicyError, match="503"):
            inspected(endpoint)
        server.kept.clear()
        inspected(endpoint)
    assert all(part["image_url"] is not None for request in server.chats[:4] for part in pictures(request.body))


def test_after_a_lost_connection_all_pictures_are_sent_again():
    turns = [Say(TURNS[0]), Say(TURNS[1]), Cut(), *map(Say, TURNS[2:])]
    with PictureServer(turns) as server:
        endpoint = endpoint_of(server)
        inspected(endpoint)
        assert list(endpoint._pictures._refused) == [False, False]
    assert [part["image_url"] is None for part in pictures(server.chats[3].body)] == [False, False, False]


def test_many_conversations_share_one_server(monkeypatch):
    # On a machine that is busy the server takes longer than usual to read a picture.
    monkeypatch.setattr("agent.policies.openai.pictures.TAKEN_SECONDS", 30.0)
    spectra = [simulate("cv", "LAMOST", 20.0, seed) for seed in range(6)]
    with PictureServer(talking(TURNS)) as server:
        policy = SpecO3(endpoint_of(server), stream=False)
        with ThreadPoolExecutor(12) as pool:
            traces = list(pool.map(lambda n: run(spectra[n % 6], CV, policy), range(36)))
    assert all(trace.answer is not None for trace in traces)
    assert len({trace.overview for trace in traces}) == 6
    # Those of one spectrum that are at the same turn wait for the one that sends its picture.
    assert len(set(server.sent)) == len(server.sent) == 24


@dataclass(frozen=True)
class WhenAllAsk:
    """The next turn of a conversation, once so many conversations have asked for it."""

    server: BadServer
    number: int

    async def chunks(self, body: Mapping[str, Any]) -> AsyncIterator[str]:
        while [len(chat.body["messages"]) for chat in self.server.chats].count(len(body["messages"])) < self.number:
            await asyncio.sleep(0.005)
        async for event in talking(TURNS)(body).chunks(body):
            yield event


def test_samples_that_begin_together_send_a_picture_once_though_no_answer_has_come(monkeypatch):
    # Long enough for a busy machine to read a picture: the three others ask only then.
    monkeypatch.setattr("agent.policies.openai.pictures.TAKEN_SECONDS", 2.0)
    with PictureServer() as server:
        server.answers = [WhenAllAsk(server, 4)]
        endpoint = endpoint_of(server)
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda _: inspected(endpoint), range(4)))
    assert len(set(server.sent)) == len(server.sent) == 4
    assert list(endpoint._pictures._refused).count(True) == 0


def test_a_picture_whose_request_failed_is_sent_by_the_next_one(monkeypatch):
    # The others wait for the answer, however long a busy machine takes.
    monkeypatch.setattr("agent.policies.openai.pictures.TAKEN_SECONDS", 30.0)
    failures = iter([Cut(), Cut()])

    def answers(body):
        return next(failures, None) or Say(answer("NO"), delay=0.05)

    with PictureServer(answers) as server:
        endpoint = endpoint_of(server)
        with ThreadPoolExecutor(6) as pool:
            list(pool.map(lambda _: inspected(endpoint), range(6)))
    # Each failure is one more; those that waited for it send nothing.
    assert 3 <= len(server.sent) <= 3 + 2
    assert len(set(server.sent)) == 1


async def refused_while_another_sends() -> None:
    known = Pictures()
    for seconds in (1.0, 2.0, 4.0, 8.0, 8.0):
        first = known.request(MESSAGES)
        with known.sending(first):
            second = known.request(MESSAGES)
            assert (first.named, second.named) == (frozenset(), second.uuids)
            known.refused(second, ErrorResponse(400, MISSING.format(0)), "http://here/v1")
        assert known._taken_seconds == seconds
    assert known.is_used
    assert not known._refused
    assert not known._sending


def test_a_server_that_takes_pictures_late_is_given_more_time():
    asyncio.run(refused_while_another_sends())


def test_an_error_inside_the_server_does_not_end_naming_unless_it_is_frequent():
    known = Pictures()
    known.answered(known.request(MESSAGES))
    failed = ErrorResponse(500, "Internal server error")
    used = []
    for _ in range(int(MOST_REFUSED * WINDOW) + 1):
        known.refused(known.request(MESSAGES), failed, "http://here/v1")
        known.answered(known.request(MESSAGES, whole=True))
        used.append(known.is_used)
    assert used == [*[True] * (len(used) - 1), False]


def test_naming_ends_when_pictures_are_missing_often_but_not_when_seldom():
    gone = ErrorResponse(400, MISSING.format(0))
    often, seldom = Pictures(), Pictures()
    for known in (often, seldom):
        known.answered(known.request(MESSAGES))
    for n in range(4 * WINDOW):
        for known, every in ((often, 4), (seldom, 6)):
            request = known.request(MESSAGES)
            if n % every:
                known.answered(request)
            else:
                known.refused(request, gone, "http://here/v1")
                known.answered(known.request(MESSAGES, whole=True))
    assert (often.is_used, seldom.is_used) == (False, True)
    assert int(MOST_REFUSED * WINDOW) == 10


def test_only_the_latest_pictures_are_remembered():
    known = Pictures()
    for n in range(MOST + 10):
        url = DataUrl.of(str(n).encode())
        known.answered(known.request([{"role": "user", "content": [{"image_url": {"url": url}}]}]))
    assert len(known._on_server) == MOST
    assert DataUrl.of(b"9").uuid not in known._on_server
    assert DataUrl.of(b"10").uuid in known._on_server
