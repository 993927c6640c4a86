import { freePort } from '../support/http/free-ports.ts'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Limits, Route, Service } from '../../src/config/app.ts'
import { appOf, TestApp } from '../support/app/test-app.ts'

export type Placement = 'shared' | 'thread' | 'process' | 'command'
export const placements: readonly Placement[] = ['shared', 'thread', 'process', 'command']
/** A command cannot be a typed service. */
export const typedPlacements = ['shared', 'thread', 'process'] as const

export interface PlacedOptions {
  readonly file: string
  readonly names: readonly string[]
  readonly routes?: readonly Route[]
  readonly limits?: Partial<Limits>
}

/** Starts one program as several services in one placement. The first one is the entry. */
export async function startAt(
  placement: Placement,
  { file, names, routes = [], limits }: PlacedOptions,
): Promise<TestApp> {
  const services = Object.fromEntries(names.map((name) => [name, serviceIn(placement, name, file)]))
  const app = appOf({ services, gateway: { entry: names[0]!, routes: [...routes] } })
  return await TestApp.startLoaded({ ...app, limits: { ...app.limits, ...limits } })
}

export function serviceIn(placement: Placement, name: string, file: string): Partial<Service> & { file: string } {
  const common = { file, env: { SERVICE: name }, startTimeout: 60_000 }
  if (placement !== 'command') return { ...common, run: placement }
  return {
    ...common,
    kind: 'command',
    run: 'process',
    entry: { file: process.execPath, args: [file], nodeOptions: [], foundBy: 'command' },
  }
}

/** Starts the program under plain Node. */
export async function startPlain(file: string): Promise<{ readonly port: number } & AsyncDisposable> {
  const port = await freePort()
  const child = spawn(process.execPath, [file], { env: { ...process.env, PORT: String(port) }, stdio: 'inherit' })
  const ended = once(child, 'exit')
  await untilServing(port)
  return {
    port,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await ended
    },
  }
}

async function untilServing(port: number): Promise<void> {
  for (;;) {
    const answer = await fetch(`http://127.0.0.1:${port}/ready`).catch(() => undefined)
    if (answer !== undefined) return void (await answer.text())
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
