#!/bin/sh
# A Chromium for the browser tests: the system's, else Debian's package if we can install it, else Playwright's.
# Fails if none is available; the browser tests are never skipped.
python=$1
for name in chromium-headless-shell chromium chromium-browser google-chrome; do
  command -v "$name" >/dev/null 2>&1 && exit 0
done
if command -v apt-get >/dev/null 2>&1 && [ "$(id -u)" = 0 ]; then
  echo "No Chromium here; installing Debian's package."
  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium-headless-shell && exit 0
fi
echo "No Chromium here; installing the one of Playwright."
"$python" -m playwright install --with-deps chromium || "$python" -m playwright install chromium || {
  echo "No Chromium could be installed. Install one (Debian: apt-get install chromium) and run again." >&2
  exit 2
}
