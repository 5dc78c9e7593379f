"""``spec-o3 doctor``: what it finds, what it prints for a missing part, and the exit status."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import app
from agent.doctor import CAPABILITIES, CORE, Diagnosis, Finding, capabilities, checks
from agent.vllm.server import Gpu, gpus
from tests.support.model_server import BadServer

ROOT = Path(__file__).resolve().parents[2]
FAKE = ROOT / "tests" / "support" / "fake_vllm"
NVIDIA_SMI = """#!/bin/sh
echo "0, NVIDIA GeForce RTX 4090, 24564, 412, 580.65.06, 8.9"
echo "1, NVIDIA A2, [N/A], [N/A], 580.65.06, 8.6"
"""


@pytest.fixture
def doctor(capsys):
    def run_doctor(*arguments: object) -> tuple[int, dict[str, dict]]:
        capsys.readouterr()
        status = app.main(["doctor", "--json", *map(str, arguments)])
        report = json.loads(capsys.readouterr().out)
        return status, {capability["name"]: capability for capability in report["capabilities"]}

    return run_doctor


@pytest.fixture
def no_nvidia(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))


def program(folder: Path, name: str, text: str) -> None:
    (folder / name).write_text(text)
    (folder / name).chmod(0o755)


def test_the_core_passes_where_the_tests_run(doctor, tmp_path):
    status, found = doctor(*CORE, "--db", tmp_path / "a.db")
    assert status == 0
    assert {name: capability["ok"] for name, capability in found.items()} == dict.fromkeys(CORE, True)
    assert list(tmp_path.iterdir()) == []


def test_every_capability_is_checked_unless_some_are_named(doctor, tmp_path):
    status, found = doctor("--db", tmp_path / "a.db", "--servers", servers_file(tmp_path, "http://127.0.0.1:9/v1"))
    assert list(found) == list(CAPABILITIES)
    assert not found["server"]["ok"]
    # The server is missing, but the core passes and nothing else was requested.
    assert status == 0
    assert doctor("server", "--servers", tmp_path / "servers.toml")[0] == 1


def test_nothing_heavy_is_imported(tmp_path):
    """Not even where it is installed: torch and vLLM are, in the Python that runs the live tests."""
    script = (
        "import sys, app; app.main(['doctor', '--db', sys.argv[1]]); "
        "print([name for name in ('torch', 'transformers', 'vllm', 'gradio') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, tmp_path / "a.db"], cwd=ROOT, capture_output=True, text=True, timeout=120
    )
    assert done.stdout.splitlines()[-1] == "[]", done.stderr


def test_every_finding_that_is_missing_says_what_to_do(doctor, no_nvidia, tmp_path):
    _, found = doctor("--db", tmp_path / "none" / "a.db")
    missing = [finding for part in found.values() for finding in part["findings"] if finding["ok"] is False]
    assert missing
    assert all(finding["remedy"] for finding in missing)


def test_a_missing_extra_is_reported_with_the_command_that_installs_it(monkeypatch):
    # Its own list: the requirements of the project change, and some have an upper limit.
    required = [Requirement("mcp>=2.3,<3"), Requirement("pytest>=9"), Requirement("ray[data]>=2.60")]
    monkeypatch.setattr(checks, "_required", lambda extra: required)
    monkeypatch.setattr(checks, "installed_version", {"mcp": "2.4", "pytest": None, "ray": "2.60"}.get)
    (found,) = checks.extra_packages("test")
    assert found == Finding(
        "packages of the extra 'test'",
        False,
        "pytest: not installed",
        f"{sys.executable} -m pip install 'spec-o3[test]'",
    )


def test_packages_that_are_too_old_or_unknown_are_reported(monkeypatch):
    monkeypatch.setattr(checks, "installed_version", lambda name: "0.1")
    *_, found = checks.core_packages()
    assert not found.ok
    assert "numpy 0.1: expected >=2.1" in found.actual
    monkeypatch.setattr(checks, "DISTRIBUTION", "no-such-distribution")
    *_, found = checks.core_packages()
    assert not found.ok
    assert "is not installed" in found.actual


def test_gpus_are_reported_as_the_driver_reports_them(tmp_path, monkeypatch):
    program(tmp_path, "nvidia-smi", NVIDIA_SMI)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    assert gpus() == (Gpu(0, "NVIDIA GeForce RTX 4090", 24564, 412, "580.65.06", "8.9"),)
    (found,) = checks.gpu_findings()
    assert found.ok
    assert "23.6 of 24.0 GiB free" in found.actual


def test_a_missing_gpu_or_a_failing_driver_is_no_gpu(no_nvidia):
    assert [found.ok for found in checks.gpu_findings()] == [False]
    assert [found.ok for found in checks.gpu_findings(needed=False)] == [None]


def test_a_driver_that_fails_counts_as_no_gpu(tmp_path, monkeypatch):
    program(tmp_path, "nvidia-smi", "#!/bin/sh\necho NVIDIA-SMI has failed\nexit 9\n")
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    assert gpus() == ()


def test_other_pixels_are_reported_with_the_pin_of_matplotlib(monkeypatch):
    monkeypatch.setattr(checks, "ZOOM", "0" * 64)
    found = checks.pixels()
    assert not found.ok
    assert "other pixels" in found.actual
    assert "matplotlib==3.10.5" in found.remedy
    pins = [str(required.specifier) for required in checks._required("") if required.name == "matplotlib"]
    assert pins == [f"=={checks.MATPLOTLIB}"]


def test_an_old_sqlite_is_reported(monkeypatch):
    monkeypatch.setattr(checks, "_PROBE", "print('3.31.1')")
    assert checks.sqlite().ok is False
    monkeypatch.setattr(checks, "_PROBE", "raise SystemExit('no such module: fts5')")
    found = checks.sqlite()
    assert (found.ok, found.actual) == (False, "no such module: fts5")


def servers_file(folder: Path, url: str) -> Path:
    """A servers.toml that lists the default server at another address."""
    path = folder / "servers.toml"
    path.write_text(f'[[server]]\nkey = "spec-o3"\nurl = "{url}"\n')
    return path


def test_a_server_is_reported_with_its_version_or_what_is_wrong_with_its_file(doctor, tmp_path):
    with BadServer([]) as server:
        status, found = doctor("server", "--servers", servers_file(tmp_path, server.url))
    assert status == 0
    assert "vLLM 0.12.0 serves" in found["server"]["findings"][0]["found"]


def test_a_broken_servers_file_is_reported(doctor, tmp_path):
    (tmp_path / "servers.toml").write_text("[[server]]\nkey = 3\n")
    status, found = doctor("server", "--servers", tmp_path / "servers.toml")
    assert status == 1
    assert "servers.toml: server 1, key" in found["server"]["findings"][0]["found"]


def test_vllm_is_searched_for_in_the_python_that_is_named(doctor, tmp_path, monkeypatch):
    program(tmp_path, "python", f'#!/bin/sh\nPYTHONPATH={FAKE} exec {sys.executable} "$@"\n')
    monkeypatch.setenv("PATH", "/bin:/usr/bin")
    _, found = doctor("serve", "--python", tmp_path / "python")
    vllm = found["serve"]["findings"][0]
    assert (vllm["ok"], vllm["found"]) == (True, "0.32.0")


def test_a_vllm_that_is_too_old_for_training_is_named(monkeypatch):
    (required,) = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]["serve"]
    line = f"{required.partition(';')[0]}; extra == 'serve'"
    monkeypatch.setattr(checks.importlib.metadata, "requires", lambda name: [line])
    found = checks.vllm_release("0.21.1", cpu=False)
    assert (found.ok, found.actual) == (False, "0.21.1: expected >=0.22")
    assert found.remedy.endswith("pip install 'spec-o3[serve]'")
    assert checks.vllm_release("0.22.0", cpu=False).ok
    assert checks.vllm_release("unknown", cpu=True).ok


def test_an_unknown_capability_is_refused(capsys):
    assert app.main(["doctor", "warp"]) == 2
    assert "found 'warp', expected one of review, live" in capsys.readouterr().err


def test_the_text_output_prints_commands_on_lines_of_their_own(capsys, tmp_path, no_nvidia):
    app.main(["doctor", "gpu"])
    assert capsys.readouterr().out.splitlines() == [
        "✗ GPU (gpu)",
        "    ✗ GPU: no nvidia-smi, so no NVIDIA driver",
        "      → install NVIDIA's driver; without a GPU, use the baseline or a small model on the CPU",
    ]


def test_a_note_does_not_make_a_capability_fail():
    note = Finding("disk", None, "3 GB")
    assert Diagnosis(capabilities.CAPABILITIES["gpu"], (note,)).ok
