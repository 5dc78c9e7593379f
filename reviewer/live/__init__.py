"""Live runs of the agent: values and threads, no web."""
