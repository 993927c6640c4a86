/** An app that is called from outside of its workers. */
import { hasCommand } from '../../../support/has-command.ts'
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Service } from '../../../../src/config/app.ts'
import { callsVariable, withPreload } from '../../../../src/shared/calls/call-access.ts'
import type { WorkerStatus } from '../../../../src/supervisor/workers/worker-status.ts'
import { type AppSetup, pollUntil, TestApp } from '../../../support/app/test-app.ts'
import type { TestFolder } from '../../../support/app/test-folder.ts'

/** Asynchronous: the app runs in this thread, which must not block. */
export const execute = promisify(execFile)

export const programs = join(import.meta.dirname, '..', '..', 'programs', 'outside')
export const python = hasCommand('python3')

export const catalog = { file: join(programs, 'catalog.mjs'), run: 'thread' } as const

/** As the config loader resolves `command`. */
export function command(name: string, more: Partial<Service> = {}): Partial<Service> & { file: string } {
  const isPython = name.endsWith('.py')
  const file = isPython ? 'python3' : process.execPath
  const entry = { file, args: [join(programs, name)], nodeOptions: [], foundBy: 'command' } as const
  return { file, kind: 'command', run: 'process', path: programs, needs: ['catalog'], entry, ...more }
}

export async function started(
  services: AppSetup['services'],
  more: Partial<AppSetup> = {},
  options: Parameters<typeof TestApp.start>[1] = {},
): Promise<TestApp> {
  const routes = Object.keys(services).map((service) => ({ host: undefined, prefix: `/${service}`, service }))
  return await TestApp.start({ services, gateway: { routes, entry: undefined }, ...more }, options)
}

export async function ask(app: TestApp, path: string): Promise<{ status: number; body: any }> {
  const response = await fetch(app.url + path, { headers: { connection: 'close' } })
  const text = await response.text()
  try {
    return { status: response.status, body: JSON.parse(text) }
  } catch {
    return { status: response.status, body: text }
  }
}

/**
 * Asserts that each client was answered as over the network, and that the service saw no header of
 * Busbar.
 */
export function assertAnswered(answers: Record<string, unknown>): void {
  const { ws, ...others } = answers
  assert.deepEqual(ws, ['hello'])
  for (const [client, answer] of Object.entries(others)) {
    const expected = { service: 'catalog', url: '/item', own: false, remote: '127.0.0.1', data: null }
    assert.deepEqual(answer, expected, client)
  }
}

/** The environment of a command, with which other processes of its user can call the app. */
export async function environmentOf(app: TestApp): Promise<NodeJS.ProcessEnv> {
  const { calls } = (await ask(app, '/shop/env')).body
  return { PATH: process.env['PATH'], [callsVariable]: calls, NODE_OPTIONS: withPreload() }
}

export async function runNode(code: string, env: NodeJS.ProcessEnv): Promise<string> {
  return (await execute(process.execPath, ['-e', code], { env })).stdout
}

/** A catalog that can be made to fail. */
export function fragileIn(folder: TestFolder): AppSetup['services'][string] {
  return { file: join(programs, '..', 'fragile.js'), run: 'thread', env: { BROKEN: folder.at('broken') } }
}

export async function endCatalog(app: TestApp, folder: TestFolder): Promise<void> {
  folder.write('broken', '')
  await ask(app, '/catalog/die')
  const catalog = (): WorkerStatus => app.running.workers.find(({ name }) => name === 'catalog')!
  await pollUntil(() => catalog().lastExit?.why === 'start', catalog)
}
