"""vLLM replicas on a Ray cluster through Ray Serve LLM: the configuration of the application, and the command for it.

Ray Serve starts the replicas where there are GPUs, starts them again, and has one address. Nothing here imports ray.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from agent.language import deferred, tr
from agent.vllm.flags import Build, ServeError, Service, engine_settings, environment, max_conversations

INSTALL = deferred(
    "pip install 'ray[serve]>=2.60,<3' beside vLLM, or pip install 'ray[serve,llm]>=2.60,<3', which installs both"
)
APPLICATION = "spec-o3"
ROUTER = "ray.serve.experimental.consistent_hash_router.ConsistentHashRouter"
"""Sends the turns with one ``x-session-id`` to one replica. Ray's router by prefixes compares texts, not pictures: all
first turns about one class are the same to it."""
REQUESTS = 256
"""Requests at one replica beyond which the next one is asked, where the number of conversations is not given."""
_PROBE = """
import importlib.metadata, json
try:
    version, missing = importlib.metadata.version("ray"), None
    import mmh3
    import ray.serve
except importlib.metadata.PackageNotFoundError:
    version, missing = None, None
except ImportError as error:
    missing = getattr(error, "name", None) or str(error)
print(json.dumps([version, missing]))
"""


def check_ray(build: Build) -> str:
    """Return the version of Ray beside that vLLM.

    :raises ServeError: there is no Ray Serve in that Python
    """
    try:
        probe = subprocess.run([build.python, "-c", _PROBE], capture_output=True, text=True, timeout=60, check=True)
        version, missing = json.loads(probe.stdout)
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        raise ServeError(
            tr("{python}: found no Python that runs ({error}), expected one with Ray", python=build.python, error=error)
        ) from error
    if version is None or missing:
        text = tr("no Ray")
        if version is not None:
            text = tr("Ray {version} without all of Ray Serve ({missing} is missing)", version=version, missing=missing)
        raise ServeError(
            tr(
                "--engine ray: found {found} in {python}; {install}",
                found=text,
                python=build.python,
                install=tr(INSTALL),
            )
        )
    return str(version)


def application(service: Service, build: Build, replicas: int) -> dict[str, Any]:
    """Return the configuration that ``serve run`` and ``serve deploy`` of Ray take.

    :raises ServeError: an option that Ray Serve LLM does not offer
    """
    if service.adapters:
        raise ServeError(
            tr("--adapter has no effect with --engine ray: merge the adapter into the model, and serve that")
        )
    if service.data_parallel > 1:
        raise ServeError(tr("--data-parallel has no effect with --engine ray: use --replicas, one per GPU"))
    folder = Path(service.model)
    model = {
        "model_id": service.served_name,
        "model_source": str(folder.resolve()) if folder.is_dir() else service.model,
    }
    sequences = max_conversations(service, build)
    # Ray's workers have our settings of vLLM, not our whole environment.
    variables = {name: value for name, value in environment(build).items() if name.startswith("VLLM_")}
    if "VLLM_API_KEY" in variables:
        raise ServeError(
            tr(
                "--engine ray: found VLLM_API_KEY set, but Ray Serve checks no key. Unset it, keep --host "
                "127.0.0.1 or a network of your own, or use --engine local"
            )
        )
    configuration: dict[str, Any] = {
        "model_loading_config": model,
        "engine_kwargs": engine_settings(service, build) | _settings_of(service.extra),
        "deployment_config": {
            "num_replicas": replicas,
            "max_ongoing_requests": 2 * sequences if sequences else REQUESTS,
            "request_router_config": {"request_router_class": ROUTER},
        },
        "runtime_env": {"env_vars": variables},
    }
    arguments: dict[str, Any] = {"llm_configs": [configuration]}
    if build.cpu:
        # One core per replica; Ray's defaults need two, and one for the address.
        configuration["placement_group_config"] = {"bundles": [{"CPU": 1}]}
        configuration["deployment_config"]["ray_actor_options"] = {"num_cpus": 0}
        arguments["ingress_deployment_config"] = {"num_replicas": 1, "ray_actor_options": {"num_cpus": 0}}
    return {
        "http_options": {"host": service.host, "port": service.port},
        "applications": [
            {
                "name": APPLICATION,
                "route_prefix": "/",
                "import_path": "ray.serve.llm:build_openai_app",
                "args": arguments,
            }
        ],
    }


def _settings_of(options: Sequence[str]) -> dict[str, Any]:
    """Return vLLM's options as settings: ``--max-num-seqs 8`` as ``max_num_seqs``, ``--no-x`` as ``x`` False.

    :raises ServeError: a word that is neither an option nor its value
    """
    settings: dict[str, Any] = {}
    name = ""
    for word in options:
        if word.startswith("--"):
            option, equals, value = word[2:].partition("=")
            name = option.replace("-", "_")
            if equals:
                settings[name], name = _value(value), ""
            elif name.startswith("no_"):
                settings[name.removeprefix("no_")], name = False, ""
            else:
                settings[name] = True
        elif name:
            settings[name], name = _value(word), ""
        else:
            raise ServeError(
                tr("-- ARGUMENTS: found {word!r}, expected an option of vLLM such as --max-num-seqs 8", word=word)
            )
    return settings


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def ray_environment(build: Build) -> dict[str, str]:
    """Return the environment of the command: ours, without colours, and without the usage statistics that Ray sends."""
    return {"RAY_USAGE_STATS_ENABLED": "0", "RAY_COLOR_PREFIX": "0"} | environment(build)


def run_command(build: Build, configuration: Path, address: str | None) -> list[str]:
    """Return the command that runs the application until it is stopped.

    :param address: of a running Ray cluster; None: Ray is started on this machine alone
    """
    # "local": without an address, Ray joins a cluster that is already running here.
    return [str(build.python), "-m", "ray.serve.scripts", "run", "--address", address or "local", str(configuration)]
