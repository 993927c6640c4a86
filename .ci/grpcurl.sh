# `grpcurl` asks a server by reflection. Where Go is installed, it is built in the background, while
# packages download. Without it, its tests are skipped.
if ! command -v grpcurl >/dev/null && command -v go >/dev/null; then
  grpcurl_folder="${TMPDIR:-/tmp}/busbar-grpcurl-$(id -u)"
  export BUSBAR_GRPCURL="$grpcurl_folder/grpcurl"
  if [ ! -x "$BUSBAR_GRPCURL" ]; then
    (GOBIN="$grpcurl_folder" timeout 300 go install github.com/fullstorydev/grpcurl/cmd/grpcurl@v1.9.3) >/dev/null 2>&1 &
  fi
fi
