import { once } from 'node:events'
import type http from 'node:http'
import type https from 'node:https'
import { setTimeout as sleep } from 'node:timers/promises'

/** The loops end after this many failures. */
const enough = 10

/** Milliseconds: leaves the processor to the app, and a kept connection is idle for a moment. */
const pause = 1

/** Clients that send a request after each answer. `ask` rejects for a failure. */
export class ClientLoops implements AsyncDisposable {
  readonly #ask: (client: number) => Promise<void>
  readonly #loops: readonly Promise<void>[]
  readonly #failures: string[] = []
  readonly #changes = new Set<() => void>()
  #stopped = false
  /** Requests that were answered or failed. */
  asked = 0

  constructor(count: number, ask: (client: number) => Promise<void>) {
    this.#ask = ask
    this.#loops = Array.from({ length: count }, (_, client) => this.#loop(client))
  }

  /** Resolves after this many more requests. */
  async answers(count: number): Promise<void> {
    const goal = this.asked + count
    await this.until(() => this.asked >= goal)
  }

  /** `condition` is checked after each request. Rejects after too many failures. */
  async until(condition: () => boolean): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const look = (): void => {
      if (condition()) resolve()
      else if (this.#failures.length >= enough) reject(new Error(`requests failed: ${this.#failures.join(', ')}`))
    }
    this.#changes.add(look)
    look()
    try {
      await promise
    } finally {
      this.#changes.delete(look)
    }
  }

  /** The failures, after all requests are answered. */
  async stop(): Promise<readonly string[]> {
    this.#stopped = true
    await Promise.all(this.#loops)
    return this.#failures
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
  }

  async #loop(client: number): Promise<void> {
    while (!this.#stopped && this.#failures.length < enough) {
      await this.#ask(client).catch((error: NodeJS.ErrnoException) => this.#failures.push(error.code ?? error.message))
      this.asked++
      for (const change of this.#changes) change()
      await sleep(pause)
    }
  }
}

export interface AskOptions extends Omit<https.RequestOptions, 'protocol'> {
  readonly protocol: typeof http | typeof https
  readonly agent: http.Agent
}

export interface Asked {
  readonly status: number
  readonly body: string
  /** True if the request opened its connection. */
  readonly opened: boolean
}

/**
 * One request by `node:http`, which never retries a POST. Without a body there is no
 * content-length.
 */
export async function ask({ protocol, ...options }: AskOptions, body?: string): Promise<Asked> {
  let opened = false
  const request = protocol.request({ host: '127.0.0.1', timeout: 60_000, ...options })
  request.once('socket', (socket) => (opened = socket.connecting))
  request.once('timeout', () => request.destroy(new Error('no answer within a minute')))
  if (body === undefined) for (const name of ['Content-Length', 'Transfer-Encoding']) request.removeHeader(name)
  request.end(body)
  const [response] = (await once(request, 'response')) as [http.IncomingMessage]
  const text = (await response.setEncoding('utf8').toArray()).join('')
  return { status: response.statusCode!, body: text, opened }
}
