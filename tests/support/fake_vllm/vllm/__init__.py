"""Stands in for vLLM: see ``entrypoints/openai/api_server.py``."""
