import assert from 'node:assert/strict'
import type { AppStatus } from '../../../src/observe/app-status.ts'

export interface StatusEvent {
  readonly status: AppStatus
  readonly latencies: readonly { readonly edge: number; readonly buckets: readonly { readonly count: number }[] }[]
}

export interface LogEvent {
  readonly lines: readonly string[]
  readonly times: readonly number[]
  readonly dropped: number
  readonly position: string
}

/** Reads the events of `GET /live`. */
export class LiveReader implements AsyncDisposable {
  readonly #reader: ReadableStreamDefaultReader<string>
  readonly #lines: string[] = []
  #text = ''

  private constructor(reader: ReadableStreamDefaultReader<string>) {
    this.#reader = reader
  }

  static async open(url: string, authorization: string): Promise<LiveReader> {
    const response = await fetch(url, { headers: { authorization } })
    assert.equal(response.status, 200)
    assert.equal(response.headers.get('content-type'), 'text/event-stream')
    return new LiveReader(response.body!.pipeThrough(new TextDecoderStream()).getReader())
  }

  /** The next event `status`. */
  async status(): Promise<StatusEvent> {
    for (;;) {
      const { event, data } = await this.#next()
      if (event === 'status') return data as StatusEvent
    }
  }

  /** The next event `log`. */
  async log(): Promise<LogEvent> {
    for (;;) {
      const { event, data } = await this.#next()
      if (event === 'log') return data as LogEvent
    }
  }

  /** The texts of the next lines of the log. */
  async lines(count: number): Promise<string[]> {
    while (this.#lines.length < count) {
      const { lines } = await this.log()
      this.#lines.push(...lines.map((line) => (JSON.parse(line) as { msg: string }).msg))
    }
    return this.#lines.splice(0, count)
  }

  /** Resolves when the server has ended the stream. */
  async ended(): Promise<void> {
    try {
      while (!(await this.#reader.read()).done);
    } catch {
      // The connection was closed.
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#reader.cancel().catch(() => {})
  }

  async #next(): Promise<{ readonly event: string; readonly data: unknown }> {
    for (;;) {
      const match = /^event: (.+)\ndata: (.+)\n\n/.exec(this.#text)
      if (match !== null) {
        this.#text = this.#text.slice(match[0].length)
        return { event: match[1]!, data: JSON.parse(match[2]!) as unknown }
      }
      const { value, done } = await this.#reader.read()
      if (done) throw new Error('the stream has ended')
      this.#text += value
    }
  }
}
