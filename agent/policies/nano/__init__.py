"""A very small Qwen2.5-VL that runs in numpy, without torch and transformers."""
