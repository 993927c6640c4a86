import { spawn, type ChildProcess } from 'node:child_process'

/**
 * Ends what a lab leaves behind that was itself ended by force: a small shell that outlives it, told of every session of
 * processes that begins and ends, which kills those that are left when its input closes, and then takes the folder away.
 * Without it, a copy that was stopped in its tracks would stay so for ever.
 *
 * There is none on Windows.
 */
export class Keeper {
  readonly #shell: ChildProcess | undefined

  /** `folder` need not be there yet. */
  constructor(folder: string) {
    if (process.platform === 'win32') return
    // A group of its own: a Ctrl-C of the terminal is not meant for it.
    this.#shell = spawn('/bin/sh', ['-c', script, 'busbar-lab-keeper', folder], {
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
    })
    this.#shell.on('error', () => {})
    this.#shell.stdin?.on('error', () => {})
  }

  /** `session`: the pid of its leader, which leads its process group too. */
  begin(session: number): void {
    this.#shell?.stdin?.write(`begin ${session}\n`)
  }

  end(session: number): void {
    this.#shell?.stdin?.write(`end ${session}\n`)
  }

  /** Resolves when it has ended, and the folder with it. */
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
 * The group is killed at once; who has left it, but not the session, is found in `/proc` (proc_pid_stat(5): the session is
 * the fourth field after the name, which is in brackets and may hold any character). Again until none is left, since one
 * may have been started meanwhile: what still runs could fill the folder anew.
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
rm -rf -- "$1"
`
