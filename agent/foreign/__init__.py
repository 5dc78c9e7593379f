"""Traces of other agents: read from their logs, and ours written in their formats."""
