"""Teamwork: bulk actions, batches, assignments."""
"""What people do together: comments, assignments, bulk actions, views, tokens and webhooks."""
