import { spawn, type ChildProcess } from 'node:child_process'

/**
 * Ends what a lab leaves behind that was itself ended by force: a small shell that outlives it, told of every group of
 * processes that begins and ends, which kills those that are left when its input closes. Without it, a copy that was
 * stopped in its tracks would stay so for ever.
 */
export class Keeper {
  readonly #shell: ChildProcess | undefined

  constructor() {
    if (process.platform === 'win32') return
    // A group of its own: a Ctrl-C of the terminal is not meant for it.
    this.#shell = spawn('sh', ['-c', script], { detached: true, stdio: ['pipe', 'ignore', 'ignore'] })
    this.#shell.on('error', () => {})
    this.#shell.stdin?.on('error', () => {})
  }

  /** `group`: the number of a process group. */
  begin(group: number): void {
    this.#shell?.stdin?.write(`begin ${group}\n`)
  }

  end(group: number): void {
    this.#shell?.stdin?.write(`end ${group}\n`)
  }

  async close(): Promise<void> {
    const shell = this.#shell
    if (shell === undefined || shell.exitCode !== null || shell.pid === undefined) return
    const { promise, resolve } = Promise.withResolvers<void>()
    shell.once('exit', () => resolve())
    shell.stdin?.end()
    await promise
  }
}

const script = `
groups=
while read -r word group; do
  case $word in
    begin) groups="$groups $group" ;;
    end)
      left=
      for each in $groups; do [ "$each" = "$group" ] || left="$left $each"; done
      groups=$left ;;
  esac
done
for each in $groups; do kill -s KILL -- "-$each" 2>/dev/null; done
`
