"""One reader a layout family."""
