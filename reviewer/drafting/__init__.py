"""Drafts made by models, their budget, and the demo data."""
