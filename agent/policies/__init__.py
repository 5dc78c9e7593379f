"""Who thinks in the inspection loop. Each module holds one policy (``agent.loop.Policy``)."""
