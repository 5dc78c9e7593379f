"""The parts of the report of a closed session: statistics, tables, figures and the page."""
