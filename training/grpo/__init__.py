"""GRPO: reinforcement learning from labels alone, with inspections by the agent's own loop and tool."""
