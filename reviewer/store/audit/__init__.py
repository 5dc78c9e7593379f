"""The audit log and its verification."""
