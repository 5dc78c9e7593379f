"""The fast renderer: the same pixels as matplotlib 3.10.5, drawn straight on its Agg canvas."""
