"""Several servers as one: the choice of a server, servers that are killed and return, and their health."""

import asyncio
import itertools
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from agent.conversation import PolicyError, Stop
from agent.doctor import DoctorOptions, diagnose
from agent.loop import inspect
from agent.policies import Sampling
from agent.policies.openai.endpoint import Endpoint, RequestLimits
from agent.policies.openai.health import Health
from agent.policies.openai.replicas import EXTRA, MOST_LOST, SLACK, Replicas, open_endpoint
from agent.policies.openai.route import Route
from agent.policies.roster import Roster
from agent.policies.servers import Server
from agent.policies.spec_o3 import SpecO3
from agent.simulate import simulate
from agent.tasks import load
from tests.support.cli import free_port
from tests.support.model_server import (
    TRAJECTORY,
    BadServer,
    Cut,
    Say,
    Status,
    problem,
    talking,
)

ROOT = Path(__file__).resolve().parents[3]
HASTY = RequestLimits(connect=2.0, first=20.0, between=20.0, tries=3, pause=0.01, longest_pause=0.05)
PATIENT = RequestLimits(connect=2.0, first=20.0, between=20.0, tries=40, pause=0.05, longest_pause=0.5)


def beginning(name: str) -> list[dict]:
    """The first messages of a conversation, as a policy sends them."""
    picture = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{name}"}}
    return [
        {"role": "system", "content": [{"type": "text", "text": "You are an expert."}]},
        {"role": "user", "content": [picture, {"type": "text", "text": "Is it a star?"}]},
    ]


def write(endpoint, messages, whole: bool = True, stop: Stop | None = None) -> str:
    pieces = endpoint.stream(messages, Sampling(), stop or Stop(), whole=whole)
    return "".join(delta.text for delta in pieces)


def converse(endpoint, name: str, whole: bool = True, turns: int = 3) -> list[str]:
    """A whole conversation; return its turns."""
    messages, texts = beginning(name), []
    for number in range(1, turns + 1):
        texts.append(write(endpoint, messages, whole))
        messages.append({"role": "assistant", "content": [{"type": "text", "text": texts[-1]}]})
        messages.append({"role": "user", "content": [{"type": "text", "text": f"{name} zoom {number}"}]})
    return texts


def spread(urls: list[str], each: int) -> list[str]:
    """Names of spectra, so many for each of these servers to begin with: by chance, one could get none."""
    homes: dict[str, list[str]] = {url: [] for url in urls}
    numbers = itertools.count()
    while any(len(found) < each for found in homes.values()):
        name = f"spectrum {next(numbers)}"
        home = homes[max(urls, key=Route.of(beginning(name)).weight)]
        if len(home) < each:
            home.append(name)
    return [name for found in homes.values() for name in found]


def names(server: BadServer) -> Counter:
    """How many turns of each conversation a server was asked for."""
    urls = (chat.body["messages"][1]["content"][0]["image_url"]["url"] for chat in server.chats)
    return Counter(url.rpartition(",")[2] for url in urls)


@pytest.fixture
def servers():
    """A function that starts so many servers, with the given answers."""
    with ExitStack() as stack:
        yield lambda *answers: [stack.enter_context(BadServer(answer)) for answer in answers]


def replicas(servers, model: str | None = "spec-o3", limits: RequestLimits = HASTY) -> Replicas:
    return Replicas([server.url for server in servers], model, None, limits)


def test_one_address_needs_no_choice():
    assert isinstance(open_endpoint(["http://a/v1"], "m"), Endpoint)
    assert isinstance(open_endpoint(["http://a/v1", "http://b/v1"], "m"), Replicas)


def test_all_turns_and_all_samples_of_a_spectrum_go_to_one_server_and_spectra_to_all(servers):
    three = servers(*[talking()] * 3)
    endpoint = replicas(three)
    for number in range(60):
        for _ in range(2):
            assert converse(endpoint, f"spectrum {number}") == list(TRAJECTORY)
    asked = [names(server) for server in three]
    assert sum(asked, Counter()) == Counter({f"spectrum {number}": 6 for number in range(60)})
    assert all(set(one.values()) == {6} for one in asked)
    # 20 are expected at each; none has a probability below 10^-10.
    assert all(asked)


def test_spectra_are_spread_evenly():
    urls = [f"http://gpu{number}:8000/v1" for number in range(3)]
    homes = Counter(max(urls, key=Route.of(beginning(f"spectrum {number}")).weight) for number in range(600))
    assert all(160 < homes[url] < 240 for url in urls)


def test_another_process_makes_the_same_choice(servers):
    three = servers(*[talking()] * 3)
    spectra = spread([server.url for server in three], 4)
    for _ in range(2):
        endpoint = replicas(three)
        for name in spectra:
            converse(endpoint, name, turns=1)
    assert all(set(names(server).values()) == {2} for server in three)


def test_a_server_with_too_many_turns_gets_no_new_conversation(servers):
    two = servers(*[[Say("It is a star.", delay=0.5)]] * 2)
    endpoint = replicas(two)
    endpoint.facts()
    with ThreadPoolExecutor(16) as pool:
        running = [pool.submit(write, endpoint, beginning("the same")) for _ in range(16)]
        assert two[0].wait(lambda: two[0].open + two[1].open == 16)
        most = max(server.open for server in two)
        assert all(one.result() == "It is a star." for one in running)
    # All would go to one of them without the limit; with it, not more than the mean and its slack.
    assert 8 <= most <= (1 + SLACK) * 16 / 2 + EXTRA


def eventually(condition: Callable[[], bool], seconds: float = 60.0) -> bool:
    """Wait until the condition holds; return whether it did in time."""
    deadline = time.monotonic() + seconds
    while not (held := condition()) and time.monotonic() < deadline:
        time.sleep(0.02)
    return held


class Process:
    """A model server in a process of its own, which can be killed and started again at the same address."""

    def __init__(self, folder: Path) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}/v1"
        self.record = folder / f"{self.port}.jsonl"
        self.record.touch()
        self.start()

    def start(self) -> None:
        line = [sys.executable, "-m", "tests.support.model_server", "--port", str(self.port), "--delay", "0.002"]
        self.process = subprocess.Popen(
            [*line, "--record", str(self.record)], cwd=ROOT, stdout=subprocess.PIPE, text=True
        )
        assert "serving" in self.process.stdout.readline()

    def kill(self) -> None:
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.process.stdout.close()

    @property
    def asked(self) -> list[str]:
        """The last message of each requested turn."""
        return [json.dumps(json.loads(line)) for line in self.record.read_text().splitlines()]


@pytest.fixture
def processes(tmp_path):
    started = []

    def start(number: int) -> list[Process]:
        started.extend(Process(tmp_path) for _ in range(number))
        return started

    yield start
    for one in started:
        if one.process.poll() is None:
            one.kill()


def test_servers_are_killed_and_return_and_each_conversation_is_answered_once(processes):
    three = processes(3)
    endpoint = replicas(three, limits=PATIENT)
    numbers, done = itertools.count(), Counter()
    over = threading.Event()

    def some() -> None:
        while (number := next(numbers)) < 300 or not over.is_set():
            assert converse(endpoint, f"spectrum {number}") == list(TRAJECTORY)
            done[number] += 1

    with ThreadPoolExecutor(12) as pool:
        running = [pool.submit(some) for _ in range(12)]
        try:
            for victim in (*three, *three):
                victim.kill()
                time.sleep(0.3)
                victim.start()
                before = len(victim.asked)
                # It is used again, without anybody checking its health in the foreground.
                assert eventually(lambda v=victim, n=before: len(v.asked) > n)
        finally:
            over.set()
        for future in running:
            future.result()
    assert set(done) >= set(range(300))
    assert set(done.values()) == {1}
    assert endpoint.check().sentence.startswith("vLLM 0.12.0 serves spec-o3 at 3 of 3 addresses")
    # A kill makes at most the turns that run, 12, be requested again.
    requested = Counter(text for server in three for text in server.asked if "zoom" in text)
    assert len(requested) == 2 * len(done)
    assert sum(requested.values()) - len(requested) <= 12 * 6


def test_a_killed_server_is_left_out_until_it_returns(processes):
    two = processes(2)
    endpoint = replicas(two)
    spectra = spread([one.url for one in two], 5)
    for name in spectra:
        converse(endpoint, name, turns=1)
    assert len(two[0].asked) == 5
    two[0].kill()
    for name in spectra:
        converse(endpoint, name, turns=1)
    assert len(two[0].asked) == 5
    two[0].start()
    # The check in the background takes it back: nothing here requests one.

    def is_used_again() -> bool:
        for name in spectra:
            converse(endpoint, name, turns=1)
        return len(two[0].asked) > 5

    assert eventually(is_used_again)


def test_a_conversation_stays_where_it_went_while_its_first_server_was_out(processes):
    two = processes(2)
    endpoint = replicas(two)
    for number in range(8):
        converse(endpoint, f"spectrum {number}", turns=1)
    home = next(one for one in two if json.dumps(beginning("spectrum 0")[1]["content"]) in one.asked)
    other = next(one for one in two if one is not home)
    home.kill()
    text = write(endpoint, beginning("spectrum 0"))
    home.start()
    assert eventually(lambda: "2 of 2" in endpoint.check().sentence)
    later = [{"role": "assistant", "content": text}, {"role": "user", "content": "the second turn"}]
    write(endpoint, beginning("spectrum 0") + later)
    assert '"the second turn"' in other.asked
    assert '"the second turn"' not in home.asked


def test_the_turns_of_a_server_that_hangs_are_requested_elsewhere(processes, monkeypatch):
    for name, seconds in (("SILENT_SECONDS", 0.5), ("PULSE_SECONDS", 0.1)):
        monkeypatch.setattr(f"agent.policies.openai.replicas.{name}", seconds)
    hanging: set[str] = set()

    async def health_of(one) -> Health:
        # Only the one that hangs has so little time: on a busy machine, the other one may take as long.
        seconds = 0.3 if one.endpoint.url in hanging else None
        try:
            return await asyncio.wait_for(one.endpoint.examined(), seconds)
        except TimeoutError:
            return Health(False, "No answer.", late=True)

    monkeypatch.setattr("agent.policies.openai.replicas._health", health_of)
    two = processes(2)
    endpoint = replicas(two)
    spectra = spread([one.url for one in two], 4)
    for name in spectra:
        converse(endpoint, name, turns=1)
    assert all(one.asked for one in two)
    # It still accepts connections, but nothing reads them.
    os.kill(two[0].process.pid, signal.SIGSTOP)
    hanging.add(two[0].url)
    with ThreadPoolExecutor(8) as pool:
        running = [pool.submit(converse, endpoint, name) for name in spectra]
        try:
            assert all(one.result(timeout=120) == list(TRAJECTORY) for one in running)
            assert "1 of 2" in endpoint.check().sentence
        finally:
            os.kill(two[0].process.pid, signal.SIGCONT)
    hanging.clear()
    assert eventually(lambda: "2 of 2" in endpoint.check().sentence)


def test_a_server_that_takes_long_is_not_taken_for_one_that_hangs(servers, monkeypatch):
    for name, seconds in (("SILENT_SECONDS", 0.1), ("PULSE_SECONDS", 0.05)):
        monkeypatch.setattr(f"agent.policies.openai.replicas.{name}", seconds)
    two = servers(*[[Say("It is a star.", pieces=1, delay=1.5)]] * 2)
    assert write(replicas(two), beginning("a")) == "It is a star."
    assert sum(len(server.chats) for server in two) == 1


def test_a_server_that_was_out_for_hours_comes_back(servers):
    two = servers(*[talking()] * 2)
    endpoint = replicas(two)
    endpoint.facts()
    one = endpoint._replicas[0]
    one.losses = 5000
    endpoint._lose(one, "gone")
    assert eventually(lambda: one.problem is None and not one.watched)


def test_many_turns_that_report_one_loss_count_once(servers):
    endpoint = replicas(servers(*[talking()] * 2))
    endpoint.facts()
    one = endpoint._replicas[0]
    one.watched = True  # nothing takes it back meanwhile
    with ThreadPoolExecutor(16) as pool:
        list(pool.map(lambda _: endpoint._lose(one, "gone"), range(64)))
    assert one.losses == 1


def test_an_error_in_a_health_check_is_a_problem_of_that_server_and_ends_no_wait(servers, monkeypatch):
    endpoint = replicas(servers(*[talking()] * 2))
    endpoint.facts()
    one = endpoint._replicas[0]
    well, failed = one.endpoint.examined, threading.Event()

    async def fails():
        failed.set()
        raise ValueError("a bug")

    monkeypatch.setattr(one.endpoint, "examined", fails)
    assert "ValueError: a bug" in endpoint.check().sentence
    assert failed.wait(5)
    monkeypatch.setattr(one.endpoint, "examined", well)
    assert eventually(lambda: one.problem is None)


def test_a_version_that_the_first_check_did_not_get_comes_with_a_later_one(servers):
    endpoint = replicas(servers(*[talking()] * 2))
    one, other = endpoint._replicas
    health = Health(True, "vLLM serves spec-o3.", "spec-o3", "vLLM", "", 32768)
    for replica, version in ((one, ""), (other, "0.12.0"), (one, "0.12.1"), (one, "")):
        endpoint._judge(replica, replace(health, version=version))
    assert endpoint.check().sentence.startswith("vLLM 0.12.0 serves spec-o3 at 2 of 2 addresses")
    assert endpoint.facts().version == "0.12.0"


def test_a_server_that_is_writing_is_not_taken_out_because_it_answers_late(servers):
    endpoint = replicas(servers(*[talking()] * 2))
    endpoint.facts()
    busy, idle = endpoint._replicas
    busy.running.add(Stop())
    busy.heard = time.monotonic()
    for one in (busy, idle):
        one.watched = True  # nothing takes it back meanwhile
        endpoint._judge(one, Health(False, "No answer within 3 s.", late=True))
    assert (busy.problem, idle.problem) == (None, "No answer within 3 s.")
    endpoint._judge(busy, Health(False, "No server there."))
    assert busy.problem == "No server there."


def test_a_turn_that_ends_its_servers_is_not_requested_at_all_of_them(servers):
    five = servers(*[[Cut()]] * 5)
    with pytest.raises(PolicyError, match=f"{MOST_LOST} servers ended at this turn, the last one: .* closed the"):
        write(replicas(five, limits=PATIENT), beginning("a"))
    assert sum(len(server.chats) for server in five) == MOST_LOST


@pytest.mark.parametrize("number", ["NaN", "Inf", "many"])
def test_counts_that_are_no_numbers_are_left_out_of_the_health(servers, number, monkeypatch):
    (server,) = servers(talking())
    text = f'vllm:num_requests_running{{engine="0"}} {number}\n'
    about = server._about_itself
    monkeypatch.setattr(
        server,
        "_about_itself",
        lambda path: Status(200, text, kind="text/plain") if path == "/metrics" else about(path),
    )
    health = Endpoint(server.url).check()
    assert (health.ok, health.running) == (True, None)


@pytest.mark.parametrize("tries", [1, 3])
def test_without_any_server_all_addresses_are_named(tries):
    ports = [free_port() for _ in range(2)]
    limits = replace(HASTY, tries=tries)
    endpoint = Replicas([f"http://127.0.0.1:{port}/v1" for port in ports], "spec-o3", None, limits)
    with pytest.raises(PolicyError) as failed:
        write(endpoint, beginning("a"))
    sentence = str(failed.value)
    assert sentence.startswith("None of the 2 addresses of this server can be used. No server at http://127.0.0.1:")
    assert all(str(port) in sentence for port in ports)
    assert f"(Tried {tries} times in " in sentence
    assert (endpoint.check().ok, endpoint.check().addresses) == (False, "0 of 2")


def test_two_servers_that_die_in_one_turn_are_both_named(processes):
    two = processes(2)
    endpoint = replicas(two, limits=replace(HASTY, tries=1))
    endpoint.facts()
    for one in two:
        one.kill()
    with pytest.raises(PolicyError) as failed:
        write(endpoint, beginning("a"))
    assert all(one.url in str(failed.value) for one in two)


def test_a_turn_waits_for_a_server_that_starts(tmp_path):
    port = free_port()
    endpoint = Replicas([f"http://127.0.0.1:{free_port()}/v1", f"http://127.0.0.1:{port}/v1"], None, None, PATIENT)
    with ThreadPoolExecutor(1) as pool:
        written = pool.submit(write, endpoint, beginning("a"))
        time.sleep(0.5)
        with BadServer(port=port):
            assert written.result(timeout=20) == TRAJECTORY[0]


def test_a_stop_ends_the_wait_for_a_server():
    limits = RequestLimits(tries=50, pause=3600.0, longest_pause=3600.0)
    endpoint = Replicas([f"http://127.0.0.1:{free_port()}/v1" for _ in range(2)], "m", None, limits)
    endpoint.facts()
    stop = Stop()
    threading.Timer(0.3, stop.set).start()
    assert write(endpoint, beginning("a"), stop=stop) == ""


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("bad", [Cut(), Status(500), Status(503), Status(429)])
def test_a_turn_that_failed_at_once_is_requested_elsewhere(servers, bad, whole):
    two = servers([bad], [Say("It is a star.")])
    endpoint = replicas(two)
    # So many that some begin at the bad one, whatever its port.
    for number in range(24):
        assert write(endpoint, beginning(f"spectrum {number}"), whole) == "It is a star."
    assert names(two[0])
    assert len(two[1].chats) == 24


def test_a_server_that_fails_but_is_healthy_is_not_taken_out_for_long(servers):
    two = servers([Status(500)], [Status(500)])
    endpoint = replicas(two)
    with pytest.raises(PolicyError, match=r"failed \(500\).*Tried 3 times"):
        write(endpoint, beginning("a"))
    assert [len(server.chats) for server in two] == [3, 3]
    assert "2 of 2 addresses" in endpoint.check().sentence


def test_a_request_that_is_wrong_is_not_requested_elsewhere(servers):
    too_long = problem(400, "This model's maximum context length is 4096 tokens.")
    for bad in (too_long, Status(400)):
        two = servers([bad], [bad])
        with pytest.raises(PolicyError):
            write(replicas(two), beginning("a"))
        assert sum(len(server.chats) for server in two) == 1


def test_a_turn_that_has_begun_is_not_requested_elsewhere_when_streamed_but_is_when_whole(servers):
    two = servers([Cut("It is")], [Cut("It is")])
    endpoint = replicas(two)
    pieces = endpoint.stream(beginning("a"), Sampling(), Stop())
    assert next(pieces).text == "It is"
    with pytest.raises(PolicyError, match="broke off in the middle of its answer"):
        list(pieces)
    assert sum(len(server.chats) for server in two) == 1
    broken = next(server for server in two if server.chats)
    next(server for server in two if server is not broken).answers = [Say("It is a star.")]
    assert write(endpoint, beginning("a"), whole=True) == "It is a star."


def test_closing_a_turn_frees_the_server(servers):
    two = servers(*[[Say("It is a star. " * 50, pieces=100, delay=0.05)]] * 2)
    endpoint = replicas(two)
    pieces = endpoint.stream(beginning("a"), Sampling(), Stop())
    next(piece for piece in pieces if piece.text)
    pieces.close()
    assert two[0].wait(lambda: sum(server.left for server in two) == 1 and not any(server.open for server in two))
    assert [len(one.running) for one in endpoint._replicas] == [0, 0]


def test_a_server_with_another_model_is_refused_with_a_sentence(servers):
    three = servers(*[talking()] * 3)
    three[1].models = ("other",)
    endpoint = replicas(three, model=None)
    health = endpoint.check()
    assert (health.ok, health.model) == (True, "spec-o3")
    assert health.sentence.startswith("vLLM 0.12.0 serves spec-o3 at 2 of 3 addresses")
    expected = f"{three[1].url} serves other, and the others spec-o3: all addresses of a server must serve one model."
    assert expected in health.sentence
    for number in range(20):
        converse(endpoint, f"spectrum {number}", turns=1)
    assert not three[1].chats
    assert three[0].chats
    assert three[2].chats
    assert f"{three[1].url} does not serve spec-o3. It serves other." in endpoint.check().sentence


def test_with_a_model_named_only_servers_of_that_model_are_used(servers):
    two = servers(*[talking()] * 2)
    two[0].models = ("other",)
    endpoint = replicas(two)
    for number in range(10):
        converse(endpoint, f"spectrum {number}", turns=1)
    assert [len(server.chats) for server in two] == [0, 10]
    assert f"{two[0].url} does not serve spec-o3" in endpoint.check().sentence


def test_the_facts_of_a_trace_do_not_depend_on_the_server_that_wrote_it(servers):
    two = servers(*[talking()] * 2)
    two[1].context = 4096
    endpoint = replicas(two)
    policy = SpecO3(endpoint, stream=False)
    spectrum = simulate("cv", "LAMOST", 30, 3)
    drafters = [list(inspect(spectrum, load()["cv"], policy))[-1].trajectory.drafter]
    used = next(server for server in two if server.chats)
    used.answers = [Status(503)]
    drafters.append(list(inspect(spectrum, load()["cv"], policy))[-1].trajectory.drafter)
    assert all(server.chats for server in two)
    assert drafters[0] == drafters[1]
    assert drafters[0].settings["context"] == 32768
    assert "url" not in str(drafters[0])


def test_a_rejected_parameter_is_left_out_at_each_server(servers):
    no_seed = problem(400, "Unrecognized request argument supplied: seed", parameter="seed")
    two = servers(*[lambda body: no_seed if "seed" in body else Say("Yes.")] * 2)
    endpoint = replicas(two)
    for number in range(10):
        deltas = endpoint.stream(beginning(f"spectrum {number}"), Sampling(seed=3), Stop(), whole=True)
        assert "".join(delta.text for delta in deltas) == "Yes."
    assert endpoint.left_out == ("seed",)


def test_the_tools_are_probed_once_for_all_servers(servers):
    two = servers(*[talking()] * 2)
    two[0].tools = "dropped"
    endpoint = replicas(two)
    tools = [{"type": "function", "function": {"name": "zoom"}}]
    assert [endpoint.tool_use(tools) for _ in range(3)] == ["dropped"] * 3
    assert [server.probes for server in two] == [2, 0]


def test_the_roster_shows_how_many_addresses_can_be_used(servers, tmp_path):
    (server,) = servers(talking())
    gone = f"http://127.0.0.1:{free_port()}/v1"
    roster = Roster([Server(key="both", urls=(server.url, gone), model="spec-o3")])
    (entry,) = (one for one in roster.entries() if one.key == "both")
    assert entry.note == f"spec-o3, at 127.0.0.1:{server.port} and 1 more"
    health = roster.health("both")
    assert (health.ok, health.addresses) == (True, "1 of 2")
    assert "serves spec-o3 at 1 of 2 addresses" in health.sentence
    assert f"Not used: No server at {gone}" in health.sentence
    *_, end = inspect(simulate("cv", "LAMOST", 30, 3), load()["cv"], roster.policy("both"))
    assert end.reason == "answered"


@pytest.mark.parametrize("whole", [True, False])
def test_a_balancer_learns_which_turns_belong_together(servers, whole):
    (server,) = servers(talking())
    endpoint = Endpoint(server.url, "spec-o3")
    for name in ("a", "b", "a"):
        converse(endpoint, name, whole, turns=2)
    sessions = [chat.headers["x-session-id"] for chat in server.chats]
    a, b = sessions[0], sessions[2]
    assert sessions == [a, a, b, b, a, a]
    assert a != b


def test_a_picture_that_is_named_afterwards_does_not_change_the_route():
    part = {"type": "image_url", "uuid": "5f", "image_url": {"url": "data:image/png;base64,AAAA"}}
    named = {"type": "image_url", "uuid": "5f", "image_url": None}
    first, later = ([{"role": "user", "content": [one, {"type": "text", "text": "?"}]}] for one in (part, named))
    assert Route.of(first) == Route.of(later)
    later += [{"role": "assistant", "content": "\ud800"}, {"role": "user", "content": [named]}]
    assert Route.of(later).beginning == Route.of(first).beginning
    assert Route.of(later).before == Route.of(first).now


def test_the_doctor_counts_the_addresses(servers, tmp_path):
    (server,) = servers(talking())
    file = tmp_path / "servers.toml"
    gone = f"http://127.0.0.1:{free_port()}/v1"
    file.write_text(f'[[server]]\nkey = "spec-o3"\nurls = ["{gone}", "{server.url}"]\n')
    (found,) = diagnose(["server"], DoctorOptions(tmp_path / "a.db", file, None), {})
    assert found.ok
    (finding,) = found.findings
    assert finding.found.startswith("vLLM 0.12.0 serves spec-o3 at 1 of 2 addresses")
    assert gone in finding.found
