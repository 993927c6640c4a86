# The lab's load engine is Rust 1.88 or newer. Debian has that as `cargo-web` where its own `cargo` is older; elsewhere, or
# without the right to install, the build says that the engine is left out, and the tests concerned that they are skipped.
if ! command -v cargo >/dev/null && command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
  apt-get update -qq || true
  if apt-cache show cargo-web >/dev/null 2>&1; then rust="cargo-web rust-web-clippy rustfmt-web"; else rust=cargo; fi
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq $rust gcc libc6-dev >&2 || echo "no Rust could be installed" >&2
fi
