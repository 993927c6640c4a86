import { spawn, type ChildProcess } from 'node:child_process'

/**
 * Cleans up after a lab that was killed. A small shell outlives the lab and gets a line for every
 * session of processes that starts or ends. When its input closes, it kills the remaining sessions
 * and deletes the folder. Without it, a frozen arm would stay frozen for ever. Not on Windows.
 */
export class Reaper {
  readonly #shell: ChildProcess | undefined

  /** `folder` need not exist yet. */
  constructor(folder: string) {
    if (process.platform === 'win32') return
    // In its own process group, so that it does not get the terminal's Ctrl-C.
    this.#shell = spawn('/bin/sh', ['-c', script, 'busbar-lab-reaper', folder], {
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
    })
    this.#shell.on('error', () => {})
    this.#shell.stdin?.on('error', () => {})
  }

  /** `session`: the pid of the leader of the session and its process group. */
  begin(session: number): void {
    this.#shell?.stdin?.write(`begin ${session}\n`)
  }

  end(session: number): void {
    this.#shell?.stdin?.write(`end ${session}\n`)
  }

  /** Resolves after the folder is deleted and the shell has exited. */
  async close(): Promise<void> {
    const shell = this.#shell
    if (shell === undefined || shell.exitCode !== null || shell.pid === undefined) return
    const { promise, resolve } = Promise.withResolvers<void>()
    shell.once('exit', () => resolve())
    shell.stdin?.end()
    await promise
  }
}

/**
 * Kills each group, then processes that left the group but not the session. Those are found in
 * `/proc` (proc_pid_stat(5): the session is the fourth field after the name, which is in brackets
 * and may have any character). Repeats until none is left, since a process may have been started
 * meanwhile and could create files in the folder. Last come daemons, which left their session but
 * still have a folder in `TMPDIR`.
 */
const script = `
trap '' INT TERM HUP
sessions=
while read -r word session; do
  case $word in
    begin) sessions="$sessions $session" ;;
    end)
      left=
      for each in $sessions; do [ "$each" = "$session" ] || left="$left $each"; done
      sessions=$left ;;
  esac
done
members() {
  wanted=$1
  for stat in /proc/[0-9]*/stat; do
    { read -r line < "$stat"; } 2>/dev/null || continue
    set -- \${line##*) }
    [ "$4" = "$wanted" ] && [ "$1" != Z ] || continue
    stat=\${stat#/proc/}
    echo "\${stat%/stat}"
  done
}
for each in $sessions; do
  kill -s KILL -- "-$each" 2>/dev/null
  turn=0
  while pids=$(members "$each"); [ -n "$pids" ] && [ $turn -lt 100 ]; do
    kill -s KILL $pids 2>/dev/null
    turn=$((turn + 1))
    sleep 0.05
  done
done
for environ in $(grep -lsF -- "TMPDIR=$1" /proc/[0-9]*/environ); do
  pid=\${environ#/proc/}
  kill -s KILL "\${pid%/environ}" 2>/dev/null
done
rm -rf -- "$1"
`
