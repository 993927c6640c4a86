#!/bin/sh
# ./benchmark.sh single|worker: sends many such requests at once, and measures /hello. Further flags go to the lab.
set -eu
case "${1:-}" in
  single) arm=main ;;
  worker) arm=busbar ;;
  *) echo 'usage: [CONCURRENT_REQUESTS=100] ./benchmark.sh single|worker [flags of busbar bench]' >&2; exit 2 ;;
esac
shift
exec npx busbar bench offload --quick --arms "$arm" --connections "${CONCURRENT_REQUESTS:-100}" "$@"
