"""Client for OpenAI-compatible model servers."""
