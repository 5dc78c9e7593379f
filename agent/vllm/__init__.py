"""A vLLM server for Spec-o3 models: its command line, its log, and its process."""

from agent.vllm.flags import (
    CONTEXT,
    Build,
    ServeError,
    Service,
    command,
    conversation_tokens,
    environment,
    find_build,
    picture_tokens,
)
from agent.vllm.log import VllmLog
from agent.vllm.server import Server

__all__ = [
    "CONTEXT",
    "Build",
    "ServeError",
    "Server",
    "Service",
    "VllmLog",
    "command",
    "conversation_tokens",
    "environment",
    "find_build",
    "picture_tokens",
]
