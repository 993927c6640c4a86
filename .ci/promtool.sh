# Prometheus' checker, for the test of /metrics and of the alert rules. Only the one program of
# Debian's package, which would otherwise bring a server. Elsewhere these checks are skipped, unless
# `promtool` is on PATH.
if ! command -v promtool >/dev/null && command -v apt-get dpkg-deb >/dev/null && [ "$(id -u)" = 0 ]; then
  promtool_folder="${TMPDIR:-/tmp}/busbar-promtool-$(id -u)"
  if [ ! -x "$promtool_folder/usr/bin/promtool" ]; then
    mkdir -p "$promtool_folder"
    # 15 s for 19 MB; the lists may be older than the package.
    (cd "$promtool_folder" && (timeout 40 apt-get download -qq prometheus || (timeout 20 apt-get update -qq && timeout 40 apt-get download -qq prometheus)) &&
      dpkg-deb --fsys-tarfile prometheus_*.deb | tar -x ./usr/bin/promtool && rm prometheus_*.deb) >&2 || true
  fi
  if [ -x "$promtool_folder/usr/bin/promtool" ]; then export BUSBAR_PROMTOOL="$promtool_folder/usr/bin/promtool"; fi
fi
