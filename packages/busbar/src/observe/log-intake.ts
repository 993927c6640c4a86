import type { App } from '../config/app.ts'
import { type BusbarError, restoreError } from '../contract/errors.ts'
import type { LogRecord } from '../shared/control-messages.ts'
import { LongLines } from './long-lines.ts'
import { RateLimit } from './rate-limit.ts'
import { Redactor } from './redactor.ts'

/** A record of a worker; `worker` undefined: of the supervisor. */
type WorkerRecord = LogRecord & { readonly worker: number | undefined }

/** What every line of an app passes before it is written anywhere: the rate limit and redaction. */
export class LogIntake {
  readonly #write: (record: WorkerRecord) => void
  readonly #secrets = new Set<string>()
  readonly #lines = new LongLines()
  #redactor = new Redactor({ secrets: [], fields: [] })
  #limit: RateLimit | undefined

  constructor(write: (record: WorkerRecord) => void) {
    this.#write = write
  }

  /**
   * Applies the settings of the app, or of a new version of it. Secrets of earlier versions stay
   * hidden.
   */
  use({ logs, secrets = [] }: Pick<App, 'logs' | 'secrets'>): void {
    for (const secret of secrets) this.#secrets.add(secret)
    this.#redactor = new Redactor({ secrets: [...this.#secrets], fields: logs?.redact ?? [] })
    this.close()
    const rate = logs?.rate
    this.#limit =
      rate === undefined ? undefined : new RateLimit(rate, (service, count) => this.#notice(service, count, rate))
  }

  readonly add = (record: WorkerRecord): void => {
    const { service, stream } = record
    if (service !== undefined && stream !== 'busbar' && this.#limit?.admits(service) === false) return
    const line = this.#lines.redact(record, this.#redactor)
    // All of it is held back.
    if (line === '' && record.line !== '') return
    const { continues: _, ...complete } = record
    this.#write(line === record.line ? record : { ...complete, line })
  }

  /** The text without the secrets of the app. */
  readonly redact = (text: string): string => this.#redactor.text(text)

  redactError(error: BusbarError): BusbarError {
    return restoreError({ ...error.toRecord(), ...this.#redactor.fields({ ...error.toRecord() }) })
  }

  /** Reports dropped lines that were not reported yet. */
  close(): void {
    this.#limit?.[Symbol.dispose]()
  }

  #notice(service: string, dropped: number, rate: number): void {
    const line = `${dropped} log lines dropped: ${service} writes more than ${rate} lines per second (logs.rate)`
    this.#write({ time: Date.now(), level: 'warn', service, stream: 'busbar', line, worker: undefined })
  }
}
