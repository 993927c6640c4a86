#!/bin/sh
# ./benchmark.sh single|worker: the server as it is, under plain node and under Busbar. More flags reach the lab.
set -eu
way="${1:?single or worker}"
shift
cd "$(dirname "$0")"
exec npx busbar bench . --path "/prime/$way" --connections "${CONCURRENT_REQUESTS:-100}" --quick "$@"
