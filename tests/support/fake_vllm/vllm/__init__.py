"""Fake vLLM package: see ``entrypoints/openai/api_server.py``."""
