"""GRPO: a model learns from labels alone, by inspecting with the agent's own loop and tool."""
