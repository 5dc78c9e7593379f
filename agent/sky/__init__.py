"""What catalogues know of the object of a spectrum: records, matches, the colour-magnitude plane, the agent's tool.

Nothing here is read on the click path from anywhere but a file or the database: ``fetching`` asks services beforehand.
Depends on ``agent.spectrum`` and ``agent.plot``; the readers of catalogues and pyvo are imported when they are needed.
"""
