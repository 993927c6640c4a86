# `buf` compares the protobuf files of two versions of a contract. npm has its binary, in a package
# for each platform, without an install script. Without it, its tests are skipped.
if ! command -v buf >/dev/null; then
  buf_folder="${TMPDIR:-/tmp}/busbar-buf-$(id -u)"
  buf_package="@bufbuild/buf-$(node -p 'process.platform + "-" + process.arch')"
  mkdir -p "$buf_folder"
  timeout 60 npm install --silent --no-audit --no-fund --ignore-scripts --prefix "$buf_folder" "$buf_package@1.75.0" >&2 || true
  buf_program="$buf_folder/node_modules/$buf_package/bin/buf"
  if [ -x "$buf_program" ]; then export BUSBAR_BUF="$buf_program"; fi
fi
