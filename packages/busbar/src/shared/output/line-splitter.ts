import { StringDecoder } from 'node:string_decoder'

/** Maximum characters per line; a longer one continues in the next record. */
const longest = 64 * 1024

/** Splits output into lines, however it is chunked. Buffers at most one unfinished line. */
export class LineSplitter {
  readonly #emit: (line: string, continues: boolean) => void
  readonly #decoder = new StringDecoder('utf8')
  #rest = ''

  /** `continues`: the next call has more of the same line. */
  constructor(emit: (line: string, continues: boolean) => void) {
    this.#emit = emit
  }

  push(chunk: string | Uint8Array): void {
    const text = this.#rest + (typeof chunk === 'string' ? chunk : this.#decoder.write(chunk))
    let start = 0
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', start)) {
      this.#line(text, start, end)
      start = end + 1
    }
    this.#rest = text.slice(start)
    if (this.#rest.length > longest) this.#shorten()
  }

  /** Emits the unfinished line too. */
  flush(): void {
    const rest = this.#rest + this.#decoder.end()
    this.#rest = ''
    if (rest !== '') this.#line(rest, 0, rest.length)
  }

  #line(text: string, start: number, end: number): void {
    const stop = text.charCodeAt(end - 1) === carriageReturn && end > start ? end - 1 : end
    for (let from = start; ; from += longest) {
      const isLast = from + longest >= stop
      this.#emit(text.slice(from, Math.min(from + longest, stop)), !isLast)
      if (isLast) return
    }
  }

  #shorten(): void {
    const whole = this.#rest.length - (this.#rest.length % longest)
    for (let from = 0; from < whole; from += longest) this.#emit(this.#rest.slice(from, from + longest), true)
    this.#rest = this.#rest.slice(whole)
  }
}

const carriageReturn = 13
