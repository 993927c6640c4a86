import { type ChildProcess, spawn, type StdioNull, type StdioPipe } from 'node:child_process'
import { withoutConnections } from '../../shared/child-stdio.ts'

const fed: [StdioPipe, StdioNull, StdioNull] = ['pipe', 'ignore', 'ignore']

/**
 * Sees to it that no process outlives this one, however it ends: not one that is stuck or stopped and cannot notice by
 * itself, and no grandchild of a command. A shell waits on a pipe whose other end only this process holds; when that is closed
 * it ends what it was told of, and takes the folder of sockets away. It has a session of its own, so that what ends a
 * terminal's processes does not end it first.
 *
 * There is none on Windows.
 */
export class Guard {
  readonly #folder: string | undefined
  #shell: ChildProcess | undefined

  /** `folder` is removed. */
  constructor(folder: string | undefined) {
    this.#folder = folder
  }

  /** A process, or with a minus a group of them. */
  watch(pid: number): void {
    this.#shell ??= this.#start()
    this.#shell?.stdin?.write(`+ ${pid}\n`)
  }

  forget(pid: number): void {
    this.#shell?.stdin?.write(`- ${pid}\n`)
  }

  /** Resolves when it has ended. */
  async close(): Promise<void> {
    const shell = this.#shell
    this.#shell = undefined
    if (shell === undefined || shell.exitCode !== null || shell.signalCode !== null) return
    const ended = new Promise((resolve) => shell.once('exit', resolve))
    shell.stdin!.end()
    await ended
  }

  #start(): ChildProcess | undefined {
    if (process.platform === 'win32') return undefined
    const args = ['-c', script, 'busbar-guard', this.#folder ?? '']
    const shell = withoutConnections(fed, (stdio) => spawn('/bin/sh', args, { stdio, detached: true }))
    // Without a shell there is no guard; a pipe that breaks means the same.
    shell.on('error', () => {})
    shell.stdin.on('error', () => {})
    return shell
  }
}

/** Asked first, a process may run its own handlers; a second later it is not asked. */
const script = `
trap '' INT TERM HUP
pids=
while read -r sign pid; do
  if [ "$sign" = + ]; then pids="$pids $pid"; else
    left=
    for one in $pids; do [ "$one" = "$pid" ] || left="$left $one"; done
    pids=$left
  fi
done
if [ -n "$pids" ]; then
  for one in $pids; do kill -s TERM -- "$one" 2>/dev/null; done
  sleep 1
  for one in $pids; do kill -s KILL -- "$one" 2>/dev/null; done
fi
[ -z "$1" ] || rm -rf -- "$1"
`
