/** One signal of OTLP. */
import { settlesWithin } from '../../shared/time/settles-within.ts'

/** Since the start of the app. */
export interface OtlpCounts {
  readonly signal: 'metrics' | 'traces'
  readonly exported: number
  readonly dropped: number
}

/** The part that the exporters of OpenTelemetry have in common. */
export interface Exporter<T> {
  export(items: T, done: (result: { readonly code: number; readonly error?: Error }) => void): void
  shutdown(): Promise<void>
}

/** `ExportResultCode.SUCCESS` of OpenTelemetry. */
const success = 0

/** Exports batches one after the other, counts them, and says when that fails and works again. */
export class SignalExport<T> {
  readonly #signal: OtlpCounts['signal']
  readonly #exporter: Exporter<T>
  readonly #log: (level: 'info' | 'warn', line: string) => void
  #exported = 0
  #dropped = 0
  #isFailing = false
  #isFull = false
  #running: Promise<void> | undefined
  /** How many are in the batch that is under way. */
  #underWay = 0

  constructor(
    signal: OtlpCounts['signal'],
    exporter: Exporter<T>,
    log: (level: 'info' | 'warn', line: string) => void,
  ) {
    this.#signal = signal
    this.#exporter = exporter
    this.#log = log
  }

  get counts(): OtlpCounts {
    return { signal: this.#signal, exported: this.#exported, dropped: this.#dropped }
  }

  /** Undefined: none is under way. */
  get running(): Promise<void> | undefined {
    return this.#running
  }

  drop(count: number): void {
    this.#dropped += count
  }

  /** The queue has no room for them: more come than the collector takes. */
  overflow(count: number): void {
    this.drop(count)
    if (this.#isFull) return
    this.#isFull = true
    this.#log('warn', `OTLP: ${this.#signal} are dropped: as many wait for the collector as the queue holds`)
  }

  /** The app ends with what is under way, and with `waiting` more. */
  abandon(waiting: number): void {
    this.drop(waiting)
    const lost = waiting + this.#underWay
    const what = this.#signal === 'traces' ? 'spans' : 'points of metrics'
    if (lost > 0) this.#log('warn', `OTLP: ${lost} ${what} are lost: the app ends before the collector has taken them`)
  }

  /** Nothing waits. */
  drained(): void {
    if (!this.#isFull || this.#isFailing) return
    this.#isFull = false
    this.#log('info', `OTLP: the queue of ${this.#signal} has room again`)
  }

  /** Only when none is under way. Never rejects. The exporter retries, up to its time-out. */
  export(items: T, count: number): Promise<void> {
    this.#underWay = count
    this.#running = this.#export(items, count).finally(() => {
      this.#underWay = 0
      this.#running = undefined
    })
    return this.#running
  }

  /** At most `limit` milliseconds. */
  async close(limit: number): Promise<void> {
    await settlesWithin(limit, [this.#exporter.shutdown().catch(() => {})])
  }

  async #export(items: T, count: number): Promise<void> {
    const fault = await this.#send(items)
    if (fault === undefined) this.#exported += count
    else this.#dropped += count
    if (this.#isFailing === (fault !== undefined)) return
    this.#isFailing = fault !== undefined
    if (fault === undefined) this.#log('info', `OTLP: ${this.#signal} are exported again`)
    else this.#log('warn', `OTLP: ${this.#signal} cannot be exported, and are dropped: ${fault}`)
  }

  async #send(items: T): Promise<string | undefined> {
    const { promise, resolve } = Promise.withResolvers<string | undefined>()
    try {
      this.#exporter.export(items, ({ code, error }) =>
        resolve(code === success ? undefined : (error?.message ?? 'the collector has refused them')),
      )
    } catch (error) {
      resolve(String(error))
    }
    return await promise
  }
}
