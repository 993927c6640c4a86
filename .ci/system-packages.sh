# Programs that tests need besides Node: `script` for a terminal, Chromium for pages, a NATS server,
# and for gRPC `protoc` and Python's grpcio.
# The names are Debian's. On other systems, or without permission to install, these tests are
# skipped, except for those of pages, which fail on CI.
missing=()
command -v git >/dev/null || missing+=(git)
command -v script >/dev/null || missing+=(bsdutils)
command -v nats-server >/dev/null || missing+=(nats-server)
command -v protoc >/dev/null || missing+=(protobuf-compiler libprotobuf-dev)
/usr/bin/python3 -c 'import grpc' 2>/dev/null || missing+=(python3-grpcio)
command -v chromium chromium-browser google-chrome-stable google-chrome >/dev/null || missing+=(chromium)

if [ ${#missing[@]} -gt 0 ]; then
  if command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
    apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >&2
  else
    echo "not installed, and not installable here: ${missing[*]}" >&2
  fi
fi

# Another Python may be first on PATH.
if /usr/bin/python3 -c 'import grpc' 2>/dev/null; then export BUSBAR_GRPC_PYTHON=/usr/bin/python3; fi
