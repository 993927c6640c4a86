import type { App } from '../../config/app.ts'
import type { FromWorker, LogRecord } from '../../shared/control.ts'

export interface HostingOptions {
  readonly app: App
  /** Gets each line that a program wrote, once, without its newline. */
  readonly log: (record: LogRecord) => void
  /** Told of what ends this worker, just before it ends; never of what fails a start, which {@link hostProgram} throws. */
  readonly fault: (fault: Fault) => void
}

export type Fault = Extract<FromWorker, { type: 'fault' }>

/** What the programs of this thread see of Node instead of the real thing; disposing puts the real thing back. */
export interface Hosting extends Disposable {
  readonly app: App
}

/** Once per worker, before the first program and outside of any scope: the patches are process-wide. */
export function installHosting(options: HostingOptions): Hosting {
  return { app: options.app, [Symbol.dispose]: () => {} }
}
