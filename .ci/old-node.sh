# The `busbar` command must say one clear sentence on a Node that is too old: the machine's own, or one fetched for it.
if ! node -e 'process.exit(parseInt(process.versions.node) < 24 ? 0 : 1)'; then
  old_node="${TMPDIR:-/tmp}/busbar-old-node-$(id -u)"
  npm install --silent --no-audit --no-fund --prefix "$old_node" node@20 --allow-scripts=node >&2 || true
  if [ -x "$old_node/node_modules/.bin/node" ]; then export BUSBAR_OLD_NODE="$old_node/node_modules/.bin/node"; fi
fi
