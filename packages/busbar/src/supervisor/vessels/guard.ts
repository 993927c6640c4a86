import { type ChildProcess, spawn, type StdioNull, type StdioPipe } from 'node:child_process'
import { withoutConnections } from '../../shared/child-stdio.ts'

/** When a shell is started again that could not be, in milliseconds. */
const retryAfter = 1000

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
  #grace: number
  /** What a new shell is told, where the one before could not be started. */
  readonly #watched = new Set<number>()
  #shell: ChildProcess | undefined
  #retry: NodeJS.Timeout | undefined

  /** `folder` is removed. `grace`: seconds that what it ends may take to stop by itself. */
  constructor(folder: string | undefined, grace = 1) {
    this.#folder = folder
    this.#grace = grace
  }

  set grace(seconds: number) {
    this.#grace = seconds
    this.#shell?.stdin?.write(`= ${seconds}\n`)
  }

  /** A process, or with a minus a group of them. */
  watch(pid: number): void {
    this.#watched.add(pid)
    if (this.#shell === undefined) this.#start()
    else this.#shell.stdin?.write(`+ ${pid}\n`)
  }

  forget(pid: number): void {
    this.#watched.delete(pid)
    this.#shell?.stdin?.write(`- ${pid}\n`)
  }

  /** Resolves when it has ended. */
  async close(): Promise<void> {
    clearTimeout(this.#retry)
    const shell = this.#shell
    this.#shell = undefined
    if (shell === undefined || shell.exitCode !== null || shell.signalCode !== null) return
    const ended = new Promise((resolve) => shell.once('exit', resolve))
    shell.stdin!.end()
    await ended
  }

  #start(): void {
    if (process.platform === 'win32') return
    const args = ['-c', script, 'busbar-guard', this.#folder ?? '', `${this.#grace}`]
    try {
      const shell = withoutConnections(fed, (stdio) => spawn('/bin/sh', args, { stdio, detached: true }))
      shell.on('error', () => {})
      if (shell.pid === undefined) return this.#startLater()
      // A pipe that breaks means that there is no guard.
      shell.stdin.on('error', () => {})
      for (const pid of this.#watched) shell.stdin.write(`+ ${pid}\n`)
      this.#shell = shell
    } catch {
      this.#startLater()
    }
  }

  /** The system refuses it: for lack of descriptors or processes. */
  #startLater(): void {
    this.#retry ??= setTimeout(() => {
      this.#retry = undefined
      if (this.#watched.size > 0 && this.#shell === undefined) this.#start()
    }, retryAfter).unref()
  }
}

/**
 * Asked first, and woken if it was stopped, a process may run its own handlers; when its time is over it is not asked. One that has
 * ended stays in the table of processes until its parent looks: as an orphan until the system's first process does, which in a
 * container may be seconds later, or never. Where there is `/proc`, it does not count as one that runs.
 */
const script = `
trap '' INT TERM HUP
runs() {
  kill -s 0 -- "$1" 2>/dev/null || return 1
  [ -r /proc/self/stat ] || return 0
  for stat in /proc/[0-9]*/stat; do
    line=
    { read -r line <"$stat"; } 2>/dev/null
    rest=\${line##*) } state=\${line##*) } group=\${rest#* * }
    [ "$1" = "\${line%% *}" ] || [ "$1" = "-\${group%% *}" ] || continue
    case $state in Z* | X*) ;; *) return 0 ;; esac
  done
  return 1
}
pids=
grace=$2
while read -r sign pid; do
  if [ "$sign" = + ]; then pids="$pids $pid"; elif [ "$sign" = = ]; then grace=$pid; else
    left=
    for one in $pids; do [ "$one" = "$pid" ] || left="$left $one"; done
    pids=$left
  fi
done
if [ -n "$pids" ]; then
  for one in $pids; do kill -s TERM -- "$one" 2>/dev/null; kill -s CONT -- "$one" 2>/dev/null; done
  while [ "$grace" -gt 0 ]; do
    left=
    for one in $pids; do runs "$one" && left="$left $one"; done
    [ -n "$left" ] || break
    sleep 1
    grace=$((grace - 1))
  done
  for one in $pids; do kill -s KILL -- "$one" 2>/dev/null; done
fi
[ -z "$1" ] || rm -rf -- "$1"
`
