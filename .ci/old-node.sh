# The `busbar` command must say one clear sentence on a Node that is too old: the machine's own, or one fetched for it.
if ! node -e 'process.exit(parseInt(process.versions.node) < 24 ? 0 : 1)'; then
  old_node="${TMPDIR:-/tmp}/busbar-old-node-$(id -u)"
  # What the package `node` would fetch by an install script, which npm does not run unasked.
  bare_node="node-$(node -p 'process.platform + "-" + process.arch')"
  mkdir -p "$old_node"
  npm install --silent --no-audit --no-fund --prefix "$old_node" "$bare_node@20" >&2 || true
  old_node="$old_node/node_modules/$bare_node/bin/node"
  if [ -x "$old_node" ]; then export BUSBAR_OLD_NODE="$old_node"; fi
fi
