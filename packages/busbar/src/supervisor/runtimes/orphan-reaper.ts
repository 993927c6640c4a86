import { type ChildProcess, spawn, type StdioNull, type StdioPipe } from 'node:child_process'
import { withoutConnections } from '../../shared/process/child-stdio.ts'

/** Milliseconds until the start of the shell is retried. */
const retryDelay = 1000

const fed: [StdioPipe, StdioNull, StdioNull] = ['pipe', 'ignore', 'ignore']

/**
 * Ends the child processes when this process has ended, in whatever way: also those that are stuck
 * or suspended, and the grandchildren of a command. A shell reads from a pipe whose other end only
 * this process holds. When the pipe closes, the shell ends the processes that it was given and
 * removes the socket folder. It runs in a session of its own, so that a signal to the terminal's
 * processes does not end it first.
 *
 * Does nothing on Windows.
 */
export class OrphanReaper {
  readonly #folder: string | undefined
  #grace: number
  /** Given to the shell when it starts. */
  readonly #watched = new Set<number>()
  #paths: string | undefined
  #shell: ChildProcess | undefined
  #retry: NodeJS.Timeout | undefined

  /** `folder` is removed at the end. `grace`: seconds between SIGTERM and SIGKILL. */
  constructor(folder: string | undefined, grace = 1) {
    this.#folder = folder
    this.#grace = grace
  }

  set grace(seconds: number) {
    this.#grace = seconds
    this.#shell?.stdin?.write(`= ${seconds}\n`)
  }

  /** `pid`: a process; negative: a process group. */
  watch(pid: number): void {
    this.#watched.add(pid)
    if (this.#shell === undefined) this.#start()
    else this.#shell.stdin?.write(`+ ${pid}\n`)
  }

  /** At the end, also removes all whose path begins so. A second call replaces the first. */
  remove(paths: string): void {
    this.#paths = paths
    this.#shell?.stdin?.write(`/ ${paths}\n`)
  }

  forget(pid: number): void {
    this.#watched.delete(pid)
    this.#shell?.stdin?.write(`- ${pid}\n`)
  }

  /** Resolves when the shell has ended. */
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
      // The shell has ended.
      shell.stdin.on('error', () => {})
      for (const pid of this.#watched) shell.stdin.write(`+ ${pid}\n`)
      if (this.#paths !== undefined) shell.stdin.write(`/ ${this.#paths}\n`)
      this.#shell = shell
    } catch {
      this.#startLater()
    }
  }

  /** The system refused the shell, for lack of descriptors or processes. */
  #startLater(): void {
    this.#retry ??= setTimeout(() => {
      this.#retry = undefined
      if (this.#watched.size > 0 && this.#shell === undefined) this.#start()
    }, retryDelay).unref()
  }
}

/**
 * SIGTERM, with SIGCONT for a suspended process, lets it run its own handlers. SIGKILL follows
 * after the grace. A process that has ended stays a zombie until its parent waits for it. For an
 * orphan that is process 1, which in a container may do so seconds later or never. Where there is
 * `/proc`, zombies do not count as running.
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
paths=
while read -r sign pid; do
  case $sign in
  +) pids="$pids $pid" ;;
  =) grace=$pid ;;
  /) paths=$pid ;;
  *)
    left=
    for one in $pids; do [ "$one" = "$pid" ] || left="$left $one"; done
    pids=$left
    ;;
  esac
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
[ -z "$paths" ] || rm -rf -- "$paths"*
`
