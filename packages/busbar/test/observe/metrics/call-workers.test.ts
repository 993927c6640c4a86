/** The label `worker` of the metrics of calls: who has answered, and who has called. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { loadApp } from '../../../src/config/load.ts'
import type { App, GatewayConfig, Service } from '../../../src/config/app.ts'
import { formatMetrics } from '../../../src/observe/metrics/metrics.ts'
import { acceleratorNames } from '../../../src/shared/accelerators.ts'
import { builtAddon } from '../../entrance/served.ts'
import { type ParsedSample, parseMetrics } from '../../support/app/prometheus.ts'
import { pollUntil, TestApp } from '../../support/app/test-app.ts'
import { TestFolder } from '../../support/app/test-folder.ts'

const folder = `${import.meta.dirname}/../programs/edges`
const entrances = (['portable', 'native'] as const).filter((one) => one === 'portable' || builtAddon !== undefined)

for (const run of ['shared', 'thread', 'process'] as const)
  for (const accelerators of [acceleratorNames, []])
    for (const entrance of run === 'process' ? entrances : [entrances.at(-1)!])
      test(`two workers each of kind ${run}, ${accelerators.length} accelerators, ${entrance} entrance`, async () => {
        await using app = await TestApp.startLoaded(await twice(run, { accelerators }, entrance))
        for (let call = 0; call < 6; call++) await get(app, '/http')
        for (let call = 0; call < 3; call++) await get(app, '/cart/')
        await pollUntil(
          () => total(app, 'http_server', 'cart') === 6 * 8 + 3,
          () => counts(app, 'http_server', 'cart'),
        )
        // Each request of web makes eight calls of cart.
        const requests = counts(app, 'http_server', 'web')
        assert.deepEqual(counts(app, 'http_client', 'web'), times(requests, 8))
        await checkServers(app)
        for (let call = 0; call < 6; call++) await get(app, '/typed')
        await pollUntil(
          () => total(app, 'rpc_server', 'stock') === 60,
          () => counts(app, 'rpc_server', 'stock'),
        )
        const later = minus(counts(app, 'http_server', 'web'), requests)
        assert.deepEqual(counts(app, 'rpc_client', 'web'), times(later, 10))
        await checkServers(app)
      })

/** Answers with its process. The first one that is asked for `/once` dies. */
const back = `
const { existsSync, writeFileSync } = require('node:fs')
require('node:http').createServer(({ url }, response) => {
  const file = process.env.DEATHS + url.replaceAll('/', '-')
  if (url.includes('/once') && !existsSync(file)) {
    writeFileSync(file, '')
    process.exit(7)
  }
  response.end(String(process.pid))
}).listen(process.env.PORT ?? 3000)`

const front = `
const http = require('node:http')
const clients = {
  fetch: async (path) => await (await fetch('http://back.internal' + path)).text(),
  get: async (path) => await new Promise((resolve, reject) => {
    http.get('http://back.internal' + path, { agent: false }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (piece) => (text += piece)).on('end', () => resolve(text))
    }).on('error', reject)
  }),
}
http.createServer(async ({ url }, response) => {
  const [, client, ...path] = url.split('/')
  response.end(await clients[client]('/' + path.join('/')))
}).listen(process.env.PORT ?? 3000)`

describe('of calls that answer with the process', () => {
  for (const kind of ['process', 'command'] as const)
    for (const accelerators of [acceleratorNames, []])
      for (const entrance of entrances)
        test(`a ${kind} counts what it has answered, ${accelerators.length} accelerators, ${entrance}`, async () => {
          using files = new TestFolder({ 'back.cjs': back, 'front.cjs': front })
          await using app = await startPair(files, kind, { accelerators }, entrance)
          const answered = new Map<string, number>()
          for (const path of ['/fetch/a', '/get/a', '/back/a'])
            for (let call = 0; call < 4; call++) {
              const response = await fetch(new URL(path, app.url), { method: path === '/back/a' ? 'POST' : 'GET' })
              const worker = workerWith(app, await response.text())
              answered.set(worker, (answered.get(worker) ?? 0) + 1)
            }
          await pollUntil(
            () => total(app, 'http_server', 'back') === 12,
            () => counts(app, 'http_server', 'back'),
          )
          assert.deepEqual(counts(app, 'http_server', 'back'), sorted(answered))
          assert.deepEqual([...counts(app, 'http_client', 'front').values()], [8])
          assert.ok(!counts(app, 'http_client', 'front').has(''))
        })

  // Without accelerators, a connection of fetch ends with the process.
  for (const [path, accelerators] of [
    ['/fetch/once', acceleratorNames],
    ['/back/once', acceleratorNames],
    ['/back/once', []],
  ] as const)
    test(`${path} counts for the worker that answers at last, ${accelerators.length} accelerators`, async () => {
      using files = new TestFolder({ 'back.cjs': back, 'front.cjs': front })
      await using app = await startPair(files, 'process', { accelerators }, 'portable')
      const worker = workerWith(app, await (await fetch(new URL(path, app.url))).text())
      await pollUntil(() => total(app, 'http_server', 'back') === 1)
      assert.deepEqual(counts(app, 'http_server', 'back'), new Map([[worker, 1]]))
      assert.deepEqual(retries(app), 1)
    })
})

for (const accelerators of [acceleratorNames, []])
  test(`calls of a command have no worker that made them, ${accelerators.length} accelerators`, async () => {
    using files = new TestFolder({ 'back.cjs': back, 'front.cjs': front })
    const entry = { file: process.execPath, args: [files.at('front.cjs')] } as unknown as Service['entry']
    const command = { file: entry.args[0]!, run: 'process', kind: 'command', path: files.path, entry } as const
    const env = { DEATHS: files.at('death') }
    const services = { front: command, back: { file: files.at('back.cjs'), run: 'thread', env } } as const
    await using app = await TestApp.start({ services, gateway: { entry: 'front' }, accelerators })
    for (const path of ['/fetch/a', '/get/a']) await get(app, path)
    await pollUntil(
      () => total(app, 'http_server', 'back') === 2,
      () => counts(app, 'http_server', 'back'),
    )
    assert.deepEqual(counts(app, 'http_client', 'front'), new Map([['', 2]]))
  })

async function twice(run: Service['run'], changes: Partial<App>, entrance: GatewayConfig['entrance']): Promise<App> {
  const app = await loadApp(folder, { env: {} })
  const services = app.services.map((service) => ({ ...service, run, instances: 2 }))
  return { ...app, workers: 2, ...changes, gateway: { ...app.gateway, entrance }, services }
}

async function startPair(
  files: TestFolder,
  kind: 'process' | 'command',
  changes: Pick<App, 'accelerators'>,
  entrance: GatewayConfig['entrance'],
): Promise<TestApp> {
  const file = files.at('back.cjs')
  const env = { DEATHS: files.at('death') }
  const entry = { file: process.execPath, args: [file] } as unknown as Service['entry']
  const command = { kind: 'command', path: files.path, entry } as const
  const service = { file, run: 'process', instances: 2, env, ...(kind === 'command' && command) } as const
  return await TestApp.start({
    services: { front: files.at('front.cjs'), back: service },
    gateway: { entrance, entry: 'front', routes: [{ host: undefined, prefix: '/back', service: 'back' }] },
    ...changes,
  })
}

async function get(app: TestApp, path: string): Promise<void> {
  await (await fetch(new URL(path, app.url))).arrayBuffer()
}

/** Each worker has as many calls in the metrics of servers as its instances have begun. */
async function checkServers(app: TestApp): Promise<void> {
  for (const { name } of app.running.app.services) {
    const both = (): [unknown, unknown] => {
      const begun = samplesOf(app, 'busbar_calls_total', '', name)
      const servers = [...counts(app, 'http_server', name), ...counts(app, 'rpc_server', name)]
      return [sumBy(servers), sumBy(begun.map(({ labels, value }) => [labels['worker']!, value]))]
    }
    // A process reports its counts a moment later than its callers theirs.
    await pollUntil(() => isDeepStrictEqual(...both()), both)
  }
}

/** By worker. */
function counts(app: TestApp, which: 'http_server' | 'http_client' | 'rpc_server' | 'rpc_client', service: string) {
  const metric = `${which}_${which.startsWith('http') ? 'request' : 'call'}_duration_seconds`
  return sumBy(samplesOf(app, metric, '_count', service).map(({ labels, value }) => [labels['worker']!, value]))
}

function total(app: TestApp, ...of: [Parameters<typeof counts>[1], string]): number {
  return [...counts(app, ...of).values()].reduce((sum, value) => sum + value, 0)
}

function samplesOf(app: TestApp, metric: string, suffix: string, service: string): ParsedSample[] {
  const { samples } = parseMetrics(formatMetrics(app.running.status())).get(metric)!
  return samples.filter(({ name, labels }) => name === metric + suffix && labels['service'] === service)
}

function retries(app: TestApp): number {
  return app.running.status().edges.reduce((sum, edge) => sum + edge.retries, 0)
}

function workerWith(app: TestApp, pid: string): string {
  const found = app.running.status().workers.find((worker) => String(worker.pid) === pid)
  assert.ok(found, pid)
  return String(found.worker)
}

function sumBy(pairs: readonly (readonly [string, number])[]): Map<string, number> {
  const sums = new Map<string, number>()
  for (const [key, value] of pairs) if (value > 0) sums.set(key, (sums.get(key) ?? 0) + value)
  return sorted(sums)
}

function sorted(map: ReadonlyMap<string, number>): Map<string, number> {
  return new Map([...map].sort(([one], [other]) => (one < other ? -1 : 1)))
}

function times(map: ReadonlyMap<string, number>, by: number): Map<string, number> {
  return new Map([...map].map(([key, value]) => [key, value * by]))
}

function minus(map: ReadonlyMap<string, number>, other: ReadonlyMap<string, number>): Map<string, number> {
  return sumBy([...map].map(([key, value]) => [key, value - (other.get(key) ?? 0)]))
}
