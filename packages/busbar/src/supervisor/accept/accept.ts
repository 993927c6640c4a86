import { BusbarError } from '../../contract/errors.ts'
import { threadsNow } from '../../shared/cells.ts'
import type { ListenerSpec } from '../../shared/control.ts'
import { openPort, type Port, type PortHandlers, portFailure, type TcpHandle } from '../../shared/port.ts'
import { Backlog } from './backlog.ts'
import { pickWorker } from './balance.ts'
import type { WorkerHandle } from '../handle.ts'
import type { Timing } from '../timing.ts'

export interface AcceptorParts {
  /** The workers that take the connections of a port, those that serve at this moment. */
  readonly serving: (listener: string) => readonly WorkerHandle[]
  readonly timing: Timing
  readonly say: (level: 'warn' | 'error', line: string) => void
}

/**
 * Owns the public ports and hands each connection to the worker with the fewest. The ports stay open whatever
 * happens to workers: while none serves, connections wait.
 */
export class Acceptor {
  readonly #parts: AcceptorParts
  readonly #ports: Port[] = []
  readonly #backlog: Backlog
  #closed = false
  #lastError = -Infinity

  constructor(parts: AcceptorParts) {
    this.#parts = parts
    this.#backlog = new Backlog(parts.timing.backlog, (dropped) =>
      this.#sayError(`no worker serves: ${dropped} waiting connections were closed`),
    )
  }

  /** The spec with its real port. */
  async open(spec: ListenerSpec): Promise<ListenerSpec> {
    const port = await openOrExplain(spec, false, {
      connection: (handle) => this.#accept(spec.id, handle),
      error: (error) => this.#sayError(error.message),
    })
    this.#ports.push(port)
    if (this.#closed) await this.close()
    return { ...spec, port: port.port }
  }

  /** A worker has begun to serve. */
  serveWaiting(): void {
    this.#backlog.drain((listener, handle) => this.#give(listener, handle))
  }

  /** One that was handed to a worker and came back. */
  again(listener: string, handle: TcpHandle): void {
    if (this.#closed) handle.close()
    else this.#accept(listener, handle)
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#backlog.close()
    await Promise.all(this.#ports.splice(0).map((port) => port.close()))
  }

  #accept(listener: string, handle: TcpHandle): void {
    if (!this.#give(listener, handle)) this.#backlog.add(listener, handle)
  }

  /** A worker that does not take it is dying and no longer serves; so this ends. */
  #give(listener: string, handle: TcpHandle): boolean {
    for (;;) {
      const worker = pickWorker(this.#parts.serving(listener), threadsNow(), this.#parts.timing.stale)
      if (worker === undefined) return false
      if (worker.take(listener, handle)) return true
    }
  }

  /** At most one line a second: these come by the thousand. */
  #sayError(line: string): void {
    const now = threadsNow()
    if (now - this.#lastError < 1000) return
    this.#lastError = now
    this.#parts.say('error', line)
  }
}

/**
 * Fails early where a port cannot be had, before any service has started. Resolves to specs that workers can open
 * side by side: a port 0 has become one free port, which is held until `release`.
 */
export async function reservePorts(
  specs: readonly ListenerSpec[],
  reusePort: boolean,
): Promise<{ specs: ListenerSpec[]; release: () => Promise<void> }> {
  const held: Port[] = []
  const reserved: ListenerSpec[] = []
  const release = async (): Promise<void> => void (await Promise.all(held.splice(0).map((port) => port.close())))
  try {
    for (const spec of specs) {
      // Nobody knows a port of the system's choice before the app has started; a connection here is a stray.
      const port = await openOrExplain(spec, reusePort, { connection: (handle) => handle.close(), error: () => {} })
      if (reusePort && spec.port === 0) held.push(port)
      else await port.close()
      reserved.push(reusePort ? { ...spec, port: port.port } : spec)
    }
  } catch (error) {
    await release()
    throw error
  }
  return { specs: reserved, release }
}

async function openOrExplain(spec: ListenerSpec, reusePort: boolean, handlers: PortHandlers): Promise<Port> {
  try {
    return await openPort(spec, reusePort, handlers)
  } catch (error) {
    throw BusbarError.fromRecord(portFailure(error as NodeJS.ErrnoException, spec))
  }
}
