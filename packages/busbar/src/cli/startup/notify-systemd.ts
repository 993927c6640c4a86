import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Milliseconds. It waits until systemd has read the message. */
const timeout = 5000

/**
 * Tells systemd what the app does (sd_notify(3)), if it asked for that by `NOTIFY_SOCKET`. Node has
 * no datagrams over Unix sockets, so `systemd-notify` sends them.
 */
export class SystemdNotifier {
  readonly #socket: string | undefined
  readonly #path: string
  readonly #failed: (line: string) => void
  /** One after the other: the order counts. */
  #last: Promise<void> = Promise.resolve()

  /** Removes the variable from `env`: programs of the app must not speak for it. */
  constructor(env: NodeJS.ProcessEnv, failed: (line: string) => void) {
    this.#socket = env['NOTIFY_SOCKET']
    this.#path = env['PATH'] ?? ''
    this.#failed = failed
    delete env['NOTIFY_SOCKET']
  }

  /** Assignments such as `READY=1`. Returns at once; {@link flush} waits. */
  notify(...assignments: readonly string[]): void {
    if (this.#socket === undefined) return
    this.#last = this.#last.then(() => this.#send(this.#socket!, assignments))
  }

  /** Never rejects. */
  flush(): Promise<void> {
    return this.#last
  }

  async #send(socket: string, assignments: readonly string[]): Promise<void> {
    try {
      await run('systemd-notify', [...assignments], { env: { NOTIFY_SOCKET: socket, PATH: this.#path }, timeout })
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException
      const why = code === 'ENOENT' ? 'systemd-notify is not installed' : message
      this.#failed(`systemd cannot be told that ${assignments[0]}: ${why}`)
    }
  }
}
