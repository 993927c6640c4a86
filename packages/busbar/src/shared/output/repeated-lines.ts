type Level = 'info' | 'warn' | 'error'

/** Milliseconds between two reports of one kind. */
const usualInterval = 60_000
/** Kinds that are told apart. Further ones count as one. */
const maxKinds = 100

interface Repeated {
  count: number
  level: Level
  last: string
  readonly timer: NodeJS.Timeout
}

/**
 * A log for what may repeat without end: of each kind, the first line at once, then at most one in
 * a minute, with how many there were.
 */
export class RepeatedLines {
  readonly #log: (level: Level, line: string) => void
  readonly #interval: number
  readonly #kinds = new Map<string, Repeated>()

  constructor(log: (level: Level, line: string) => void, interval = usualInterval) {
    this.#log = log
    this.#interval = interval
  }

  /**
   * `kind`: the same for lines that say the same, even if they name different items. Default: the
   * line without what it quotes, as the subject of NATS that a server refuses, which may be random.
   */
  add(level: Level, line: string, kind = withoutQuoted(line)): void {
    const key = this.#kinds.has(kind) || this.#kinds.size < maxKinds ? kind : ''
    const known = this.#kinds.get(key)
    if (known !== undefined) {
      known.count++
      known.level = level
      known.last = line
      return
    }
    this.#log(level, line)
    const timer = setInterval(() => this.#report(key), this.#interval).unref()
    this.#kinds.set(key, { count: 0, level, last: line, timer })
  }

  /** Reports what was left out. The next line is a first one. */
  close(): void {
    for (const key of this.#kinds.keys()) {
      this.#report(key)
      this.#forget(key)
    }
  }

  #report(key: string): void {
    const { count, level, last } = this.#kinds.get(key)!
    if (count === 0) return this.#forget(key)
    this.#kinds.get(key)!.count = 0
    const seconds = Math.round(this.#interval / 1_000)
    this.#log(level, `${last} (${count} such lines in up to ${seconds} s; only this one is shown)`)
  }

  #forget(key: string): void {
    clearInterval(this.#kinds.get(key)?.timer)
    this.#kinds.delete(key)
  }
}

/** The same for lines that say the same of different things. */
export function withoutQuoted(line: string): string {
  return line.replace(/"[^"]*"/g, '')
}
