"""Catalogues for publication: the decided objects of a class as tables, figures, methods text and bibliography."""
