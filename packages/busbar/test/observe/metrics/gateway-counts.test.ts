/** What a client of the gateway counts, and the edges, agree exactly, behind both entrances. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { describe, it } from 'node:test'
import type { Service } from '../../../src/config/app.ts'
import { formatMetrics } from '../../../src/observe/metrics/metrics.ts'
import { builtAddon, Client, get } from '../../entrance/served.ts'
import { parseMetrics, sumOf } from '../../support/app/prometheus.ts'
import { pollUntil, TestApp } from '../../support/app/test-app.ts'
import { TestFolder } from '../../support/app/test-folder.ts'

const folder = `${import.meta.dirname}/../programs/tally`
const file = `${folder}/back.mjs`

const places: Record<string, Partial<Service>> = {
  'a shared worker': { run: 'shared' },
  'a process': { run: 'process' },
  'a command': {
    run: 'process',
    kind: 'command',
    path: folder,
    entry: { file: process.execPath, args: [file] } as unknown as Service['entry'],
  },
}

/** Method, path, and the status with which it counts. */
const calls = [
  ['GET', '/fine', '200'],
  ['GET', '/fine', '200'],
  ['HEAD', '/fine', '200'],
  ['POST', '/echo', '200'],
  ['PUT', '/none', '204'],
  ['GET', '/same', '304'],
  ['GET', '/fail', '500'],
  ['GET', '/missing', '404'],
  ['GET', '/hints', '200'],
  ['GET', '/stream', '200'],
  ['GET', '/open', '200'],
  ['GET', '/cut', 'none'],
  ['GET', '/close', 'none'],
  ['POST', '/close', 'none'],
] as const

for (const entrance of ['portable', 'native'] as const)
  describe(
    `requests behind the ${entrance} entrance`,
    { skip: entrance === 'native' && builtAddon === undefined },
    () => {
      for (const [where, place] of Object.entries(places))
        it(`to ${where} count exactly`, { timeout: 120_000 }, async () => {
          using files = new TestFolder({})
          await using app = await TestApp.start({
            services: { web: { file, run: 'shared' }, back: { file, ...place } },
            gateway: { entrance, entry: 'web', routes: [{ host: undefined, prefix: '/b', service: 'back' }] },
          })
          const expected: Record<string, number> = {}
          const add = (method: string, status: string): void => {
            const key = `${method} /b ${status}`
            expected[key] = (expected[key] ?? 0) + 1
          }
          await Promise.all(
            [0, 1].map(async () => {
              for (const [method, path, status] of calls) {
                await ask(app, method, path)
                add(method, status)
              }
            }),
          )
          await leave(app, files.at('arrived'))
          add('GET', 'none')
          add('GET', '200')
          await leaveWithUpgrade(app, files.at('arrived too'))
          add('GET', 'none')
          // The native one has not begun the upgrade.
          if (entrance === 'portable') add('GET', 'none')
          // In one write.
          const client = new Client(app.port).send(get('/b/fine').repeat(3) + get('/b/fail'))
          await client.until('failed')
          client.socket.destroy()
          for (const status of ['200', '200', '200', '500']) add('GET', status)
          await pollUntil(
            () => sorted(counted(app)) === sorted(expected),
            () => `${sorted(counted(app))} instead of ${sorted(expected)}`,
          )
          check(
            app,
            Object.values(expected).reduce((sum, count) => sum + count, 0),
          )
          const isDirect = entrance === 'native' && place.run === 'process'
          assert.equal((app.running.status().entrance?.direct ?? 0) > 0, isDirect)
        })
    },
  )

/** Whatever becomes of it. */
async function ask(app: TestApp, method: string, path: string): Promise<void> {
  const body = method === 'POST' ? 'a body' : method === 'PUT' ? 'x'.repeat(200_000) : undefined
  try {
    const response = await fetch(new URL(`/b${path}`, app.url), { method, ...(body !== undefined && { body }) })
    await response.text()
  } catch {
    // Its response is cut off.
  }
}

/** Leaves before the head of a response, and after that of another one. */
async function leave(app: TestApp, arrived: string): Promise<void> {
  const before = new AbortController()
  const options = { signal: before.signal, headers: { 'x-file': arrived } }
  const hanging = fetch(new URL('/b/hang', app.url), options).catch(() => {})
  await pollUntil(() => existsSync(arrived))
  before.abort()
  await hanging
  const after = new AbortController()
  await fetch(new URL('/b/begun', app.url), { signal: after.signal })
  after.abort()
}

/** Leaves while an upgrade waits for the response to an earlier request. */
async function leaveWithUpgrade(app: TestApp, arrived: string): Promise<void> {
  const upgrade = 'Connection: upgrade\r\nUpgrade: echo\r\n'
  const client = new Client(app.port).send(get('/b/hang', `X-File: ${arrived}\r\n`) + get('/b/fine', upgrade))
  await pollUntil(() => existsSync(arrived))
  client.socket.destroy()
}

function counted(app: TestApp): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { caller, callee, method, route, outcomes } of app.running.status().edges)
    if (callee === 'back')
      for (const { status, count } of outcomes) {
        assert.equal(caller, '')
        const key = `${method} ${route} ${status}`
        counts[key] = (counts[key] ?? 0) + count
      }
  return counts
}

/** Every call has a duration, none is in flight, and the metrics have the same. */
function check(app: TestApp, all: number): void {
  const status = app.running.status()
  for (const { inFlight, outcomes } of status.edges) {
    assert.equal(inFlight, 0)
    for (const { count, buckets } of outcomes) assert.equal(buckets.at(-1)!.count, count)
  }
  const metrics = parseMetrics(formatMetrics(status))
  assert.equal(sumOf(metrics, 'busbar_edge_calls_total'), all)
  assert.equal(sumOf(metrics, 'http_server_request_duration_seconds', '_count'), all)
}

function sorted(counts: Record<string, number>): string {
  return JSON.stringify(Object.entries(counts).sort(([one], [other]) => (one < other ? -1 : 1)))
}
