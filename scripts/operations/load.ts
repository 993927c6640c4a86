/** The load of the operations scripts: requests at a fixed rate, and WebSockets that echo. */
import http from 'node:http'

export interface Failure {
  readonly kind: string
  readonly what: string
}

export interface RequestsOptions {
  readonly port: number
  readonly perSecond: number
  /** False: a connection for each request. */
  readonly keepAlive: boolean
  /** GET for requests that may be repeated, POST for those that may not. */
  readonly method?: 'GET' | 'POST'
}

/** Sends requests at a fixed rate, whatever the answers take. */
export class Requests {
  readonly failures: Failure[] = []
  /** Milliseconds, since the last `take`. */
  #latencies: number[] = []
  readonly #options: RequestsOptions
  readonly #agent: http.Agent
  readonly #pending = new Set<Promise<void>>()
  #timer: NodeJS.Timeout | undefined
  #sent = 0
  answered = 0

  constructor(options: RequestsOptions) {
    this.#options = options
    const { keepAlive } = options
    this.#agent = new http.Agent({ keepAlive, maxFreeSockets: 64 })
    const began = performance.now()
    this.#timer = setInterval(() => {
      const due = ((performance.now() - began) / 1000) * options.perSecond
      for (; this.#sent < due; this.#sent++) this.#send()
    }, 2)
  }

  /** Requests that were sent and not answered. */
  get pending(): number {
    return this.#pending.size
  }

  /** The latencies since the last call. */
  take(): number[] {
    const latencies = this.#latencies
    this.#latencies = []
    return latencies
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer)
    await Promise.all(this.#pending)
    this.#agent.destroy()
  }

  #send(): void {
    const sent = this.#ask()
    this.#pending.add(sent)
    void sent.finally(() => this.#pending.delete(sent))
  }

  async #ask(): Promise<void> {
    const { port, keepAlive, method = 'GET' } = this.#options
    const kind = `${method} on ${keepAlive ? 'a kept connection' : 'a connection of its own'}`
    const began = performance.now()
    const { promise, resolve } = Promise.withResolvers<void>()
    const fail = (what: string): void => {
      this.failures.push({ kind, what })
      resolve()
    }
    http
      .request({ host: '127.0.0.1', port, method, path: '/', agent: this.#agent, timeout: 30_000 }, (response) => {
        response.resume().once('error', (error: NodeJS.ErrnoException) => fail(error.code ?? error.message))
        response.once('end', () => {
          if (response.statusCode !== 200) return fail(String(response.statusCode))
          this.#latencies.push(performance.now() - began)
          this.answered++
          resolve()
        })
      })
      .once('timeout', () => fail('no answer in 30 s'))
      .once('error', (error: NodeJS.ErrnoException) => fail(error.code ?? error.message))
      .end()
    await promise
  }
}

/** A WebSocket that sends a sequence of numbers and checks that each comes back, in order. */
export class Sequence {
  readonly codes: number[] = []
  readonly faults: string[] = []
  readonly #url: string
  readonly #timer: NodeJS.Timeout
  #socket: WebSocket | undefined
  #sent = 0
  echoed = 0
  #isOver = false

  constructor(port: number, perSecond: number) {
    this.#url = `ws://127.0.0.1:${port}/`
    this.#connect()
    this.#timer = setInterval(() => {
      if (this.#socket!.readyState === WebSocket.OPEN) this.#socket!.send(String(++this.#sent))
    }, 1000 / perSecond)
  }

  async stop(): Promise<void> {
    this.#isOver = true
    clearInterval(this.#timer)
    await new Promise((resolve) => setTimeout(resolve, 200))
    this.#socket!.close(1000)
  }

  #connect(): void {
    const socket = (this.#socket = new WebSocket(this.#url))
    // What was not echoed before the close is sent again.
    socket.addEventListener('open', () => (this.#sent = this.echoed))
    socket.addEventListener('message', ({ data }) => {
      if (Number(data) === this.echoed + 1) this.echoed++
      else this.faults.push(`${String(data)} instead of ${this.echoed + 1}`)
    })
    socket.addEventListener('close', ({ code }) => {
      if (this.#isOver) return
      this.codes.push(code)
      this.#connect()
    })
  }
}

export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}
