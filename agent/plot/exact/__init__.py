"""The fast renderer: the same pixels as matplotlib 3.10.5, drawn directly on its Agg canvas.

It relies on matplotlib's private modules ``matplotlib.backends._backend_agg`` and ``matplotlib._path``."""
