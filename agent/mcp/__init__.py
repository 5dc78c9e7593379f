"""The spectrum tools for agents of others, over the Model Context Protocol (modelcontextprotocol.io).

``server`` makes the server; ``tools`` has the tools, which know nothing of the protocol. The extra ``mcp`` is needed.
"""
