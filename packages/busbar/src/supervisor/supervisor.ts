import { BusbarError } from '../contract/errors.ts'
import type { App } from '../config/app.ts'
import type { RunningApp, StartOptions } from './running.ts'

/**
 * Starts the app and resolves when every service of every worker answers and the ports are open. Rejects with the
 * first error, the service's own, after closing whatever had started.
 */
export async function startApp(_app: App, _options: StartOptions): Promise<RunningApp> {
  throw new BusbarError('INTERNAL', { message: 'not built yet' })
}
