/**
 * The app of `supervisor/programs/pool`: a service that computes what its calls say, and a program
 * that calls it.
 */
import { loadApp } from '../../../src/config/load.ts'
import type { Service } from '../../../src/config/app.ts'
import type { StartOptions } from '../../../src/supervisor/running-app.ts'
import { TestApp } from './test-app.ts'

const folder = new URL('../../supervisor/programs/pool', import.meta.url).pathname

export interface Call {
  readonly name: string
  /** Duration of the computation. A negative one ends the thread. */
  readonly ms: number
  readonly options?: { readonly timeout?: number; readonly priority?: number }
}

export interface Outcome {
  readonly name: string
  readonly code?: string
  readonly thread?: number
}

export const forever = 1e9

/** `placement`: of the computing service, which its caller may not know yet. */
export async function startPool(placement: Partial<Service>, options: Partial<StartOptions> = {}): Promise<TestApp> {
  const app = await loadApp(folder, { env: {} })
  const services = app.services.map((one) => (one.name === 'compute' ? { ...one, ...placement } : one))
  return await TestApp.startLoaded({ ...app, services }, options)
}

/** Makes all calls in parallel, and returns their outcomes in order. */
export async function ask(app: TestApp, calls: readonly Call[]): Promise<Outcome[]> {
  const answer = await fetch(app.url, {
    method: 'POST',
    headers: { connection: 'close' },
    body: JSON.stringify(calls),
  })
  return (await answer.json()) as Outcome[]
}

export function named(name: string, count: number, ms = 10): Call[] {
  return Array.from({ length: count }, (_, at) => ({ name: `${name} ${at}`, ms }))
}

export function failed(outcomes: readonly Outcome[]): Outcome[] {
  return outcomes.filter(({ code }) => code !== undefined)
}

export function deathsOf(app: TestApp): number {
  return app.running.workers.reduce((sum, { deaths }) => sum + deaths, 0)
}

/** Number of computing threads. */
export function serving(app: TestApp): number {
  return app.running.workers.filter(({ name, state }) => name.startsWith('compute') && state === 'serving').length
}
