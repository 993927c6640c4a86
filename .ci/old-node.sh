# On an unsupported Node the `busbar` command must print one clear sentence. The test needs such a
# Node: the machine's own, or one that is installed here.
if ! node -e 'process.exit(parseInt(process.versions.node) < 24 ? 0 : 1)'; then
  old_node="${TMPDIR:-/tmp}/busbar-old-node-$(id -u)"
  # The package with the binary, which the package `node` would download in an install script.
  bare_node="node-$(node -p 'process.platform + "-" + process.arch')"
  mkdir -p "$old_node"
  npm install --silent --no-audit --no-fund --prefix "$old_node" "$bare_node@20" >&2 || true
  old_node="$old_node/node_modules/$bare_node/bin/node"
  if [ -x "$old_node" ]; then export BUSBAR_OLD_NODE="$old_node"; fi
fi
