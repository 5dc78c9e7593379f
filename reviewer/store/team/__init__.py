"""Teamwork: bulk actions, batches, assignments."""
