"""A vLLM server for Spec-o3 models: the right flags, its log put into words, started and stopped with us."""

from agent.serving.build import Build, ServeError, find_build
from agent.serving.context import CONTEXT, conversation_tokens, picture_tokens
from agent.serving.flags import Service, command, environment
from agent.serving.server import Server
from agent.serving.vllm_log import VllmLog

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
