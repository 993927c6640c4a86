import { EventEmitter, once } from 'node:events'

export interface Head {
  readonly status: number
  readonly statusText: string
  readonly rawHeaders: readonly string[]
}

/** What a caller saw, in a form that allows to compare two ways of calling. */
export interface Outcome {
  readonly information: readonly string[]
  readonly head: Head | undefined
  readonly body: string
  readonly trailers: Readonly<Record<string, string>>
  readonly end: string
}

/** Records one call on the caller's side. */
export class Recording {
  /** Reads only on request. */
  readonly slow: boolean
  #head: Head | undefined
  readonly #information: string[] = []
  readonly #chunks: Buffer[] = []
  #length = 0
  readonly #trailers: Record<string, string> = {}
  #end: string | undefined
  #drained = 0
  readonly #news = new EventEmitter().setMaxListeners(0)

  constructor(slow: boolean) {
    this.slow = slow
  }

  onInformation(status: number, headers: Readonly<Record<string, unknown>>): void {
    this.#information.push(`${status} ${JSON.stringify(headers)}`)
    this.#news.emit('news')
  }

  onHead(status: number, statusText: string, rawHeaders: readonly string[]): void {
    this.#head = {
      status,
      statusText,
      rawHeaders: rawHeaders.map((text, n) => (isDate(rawHeaders, n) ? 'a date' : text)),
    }
    this.#news.emit('news')
  }

  onData(chunk: Uint8Array | string): void {
    const bytes = Buffer.from(chunk as string)
    this.#chunks.push(bytes)
    this.#length += bytes.length
    this.#news.emit('news')
  }

  onDrain(): void {
    this.#drained++
    this.#news.emit('news')
  }

  /** Repeated headers are joined, as Node's client does. */
  onEnd(trailers: Readonly<Record<string, string | string[] | undefined>>): void {
    for (const [name, value] of Object.entries(trailers)) this.#trailers[name] = [value].flat().join(', ')
    this.#finish('complete')
  }

  onError(error: Error): void {
    this.#finish(kindOf(error))
  }

  async head(): Promise<void> {
    await this.#until(() => this.#head !== undefined)
  }

  async received(length: number): Promise<void> {
    await this.#until(() => this.#length >= length)
  }

  async informed(): Promise<void> {
    await this.#until(() => this.#information.length > 0)
  }

  async drained(): Promise<void> {
    const before = this.#drained
    await this.#until(() => this.#drained > before)
  }

  async outcome(): Promise<Outcome> {
    await this.#until(() => this.#end !== undefined)
    return {
      information: this.#information,
      head: this.#head,
      body: Buffer.concat(this.#chunks).toString('latin1'),
      trailers: this.#trailers,
      end: this.#end!,
    }
  }

  /**
   * The first end counts: a client reports a broken connection twice, by its request and by its
   * response.
   */
  #finish(end: string): void {
    this.#end ??= end
    this.#news.emit('news')
  }

  /** Nothing that is awaited can happen once the call has ended. */
  async #until(met: () => boolean): Promise<void> {
    while (!met() && this.#end === undefined) await once(this.#news, 'news')
  }
}

function isDate(rawHeaders: readonly string[], index: number): boolean {
  return index % 2 === 1 && rawHeaders[index - 1] === 'Date' && rawHeaders[index]!.endsWith('GMT')
}

/** Clients name the same thing differently. */
function kindOf(error: Error): string {
  const { code } = error as { code?: string }
  if (code === 'ECONNRESET' || code === 'UND_ERR_SOCKET') return 'the connection was closed'
  if (error.message === 'aborted by the test') return 'the caller gave up'
  return code ?? error.message
}
