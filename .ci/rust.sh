# The lab's load engine needs Rust 1.88 or newer, which Debian has as `cargo-web` if its `cargo` is
# older. On other systems, or without permission to install, the engine is not built, and its tests
# are skipped.
if ! command -v cargo >/dev/null && command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
  apt-get update -qq || true
  if apt-cache show cargo-web >/dev/null 2>&1; then rust="cargo-web rust-web-clippy rustfmt-web"; else rust=cargo; fi
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq $rust gcc libc6-dev >&2 || echo "no Rust could be installed" >&2
fi
