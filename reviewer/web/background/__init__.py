"""What the app does in the background: imports, exports, groups of traces, and webhooks."""
