import type { LogRecord } from '../shared/control-messages.ts'
import type { Redactor } from './redactor.ts'

/** Characters of a line that are held back. */
const mostHeld = 256 * 1024

/** Of a line: what waits for its rest. `cut`: the rest is left out. */
type Held = { readonly is: 'held'; readonly text: string } | { readonly is: 'cut' }

/**
 * Redacts lines that are too long for one record. What may be the beginning of a secret is held
 * back until the next record of the line has come. Each service and stream of a worker has one line
 * that is not complete, so the memory is bounded.
 */
export class LongLines {
  readonly #held = new Map<string, Held>()

  /** The part of the line that is written now. */
  redact(
    { line, continues = false, ...from }: LogRecord & { readonly worker: number | undefined },
    redactor: Redactor,
  ): string {
    if (!continues && this.#held.size === 0) return redactor.line(line)
    const key = `${from.worker} ${from.stream} ${from.service ?? ''}`
    const before = this.#held.get(key)
    if (!continues) this.#held.delete(key)
    if (before?.is === 'cut') return ''
    const text = `${before?.text ?? ''}${line}`
    if (!continues) return redactor.line(text)
    const end = redactor.settled(text)
    if (text.length - end <= mostHeld) {
      this.#held.set(key, { is: 'held', text: text.slice(end) })
      return redactor.line(text.slice(0, end))
    }
    // A hidden value without an end in sight.
    this.#held.set(key, { is: 'cut' })
    return redactor.line(text)
  }
}
