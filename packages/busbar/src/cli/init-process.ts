/**
 * Busbar as the first process of a container. The kernel makes process 1 the parent of every
 * process whose own parent has ended, and it must wait for them, or they stay zombies until the
 * container has no process IDs left. Node waits for its own children only. So a shell takes process
 * 1 by `execve`, starts Busbar as its child, waits for everything and passes on signals.
 */
import { accessSync, constants } from 'node:fs'

const shell = '/bin/sh'

/** Does nothing unless this is process 1. Then it returns only where there is no shell. */
export function leaveProcessOne(argv: readonly string[] = process.argv.slice(1)): void {
  if (process.pid !== 1 || !isExecutable(shell)) return
  const command = [process.execPath, ...process.execArgv, ...argv]
  process.execve?.(shell, ['sh', '-c', script, 'busbar-init', ...command], process.env)
}

/**
 * The traps come first: without one, process 1 never gets a signal. A background command of a shell
 * would read from /dev/null, hence the third descriptor. `wait` returns early for a signal, and for
 * the end of the child.
 */
const script = `
child= early=
pass() { if [ -n "$child" ]; then kill -s "$1" "$child" 2>/dev/null; else early=$1; fi; }
trap 'pass TERM' TERM
trap 'pass INT' INT
trap 'pass HUP' HUP
exec 3<&0
"$@" <&3 3<&- &
child=$!
exec 3<&-
[ -z "$early" ] || pass "$early"
while :; do
  wait "$child"
  code=$?
  kill -s 0 "$child" 2>/dev/null || exit "$code"
done
`

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}
