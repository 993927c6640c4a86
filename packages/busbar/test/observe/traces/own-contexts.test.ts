/** Contexts that programs set themselves, and calls of WebSockets and of other threads. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { App, Service } from '../../../src/config/app.ts'
import { loadApp } from '../../../src/config/load.ts'
import { acceleratorNames } from '../../../src/shared/accelerators.ts'
import { newTraceId } from '../../../src/shared/traces/trace-context.ts'
import { wantedEntrance } from '../../support/app/wanted-entrance.ts'
import { type Trace, TracedApp } from '../support/traced-app.ts'

const folder = `${import.meta.dirname}/../programs/traces`

interface Seen {
  readonly traceparent: string
  readonly tracestate?: string
  readonly raw: number
}

/** The trace that the program begins itself. */
const own = '1'.repeat(32)

for (const run of ['shared', 'thread', 'process'] as const)
  for (const accelerators of [acceleratorNames, []]) {
    const where = `(${run}, ${accelerators.length === 0 ? 'without' : 'with'} accelerators)`

    test(`a context that a program sets itself wins, and its call has the spans of both sides ${where}`, async () => {
      await using app = await start(run, accelerators)
      const paths = ['/own-node', '/own-list', '/own-channel']
      const parents: string[] = []
      for (const path of paths) {
        const seen = (await call(app, path)) as Seen
        const [, trace, parent] = seen.traceparent.split('-')
        assert.deepEqual([trace, seen.raw, seen.tracestate], [own, 1, 'own=1'], path)
        parents.push(parent!)
      }
      const areWhole = ({ id, calls }: Trace): boolean =>
        id === own && calls.length === paths.length && calls.every(({ spans }) => spans.length === 2)
      const { calls } = (await app.tracesWhen((traces) => traces.some(areWhole))).find(areWhole)!
      for (const [at, { caller, service, spans }] of calls.entries()) {
        assert.deepEqual([caller, service], ['front', 'back'], paths[at])
        assert.ok(spans.includes(parents[at]!), `${paths[at]} ${JSON.stringify(calls)}`)
      }
    })

    test(`a WebSocket that a program opens continues the trace ${where}`, async () => {
      await using app = await start(run, accelerators)
      for (const path of ['/upgrade', '/websocket']) {
        const id = newTraceId()
        const { traceparent } = (await call(app, path, { traceparent: `00-${id}-1234567890123456-01` })) as Seen
        assert.equal(traceparent.slice(3, 35), id, path)
        const isWhole = ([front, back]: Trace['calls']): boolean => front?.run != null && back !== undefined
        const traces = await app.tracesWhen((all) => all.some((one) => one.id === id && isWhole(one.calls)))
        const [front, back] = traces.find((one) => one.id === id)!.calls
        assert.deepEqual([back!.caller, back!.service, back!.status, back!.parent], ['front', 'back', 101, front!.id])
      }
    })
  }

for (const run of ['shared', 'thread', 'process'] as const)
  test(`calls of a task in a thread of offload() continue the trace of its caller (${run})`, async () => {
    await using app = await start(run, acceleratorNames)
    const ask = async (flags: string): Promise<string> => {
      const id = newTraceId()
      const headers = { traceparent: `00-${id}-1234567890123456-${flags}`, tracestate: `own=${flags}` }
      const all = (await call(app, '/task', headers)) as Seen[]
      const what = JSON.stringify(all)
      assert.equal(all.length, 3)
      for (const { traceparent, tracestate, raw } of all) {
        assert.equal(traceparent.slice(0, 36), `00-${id}-`, what)
        assert.equal(traceparent.slice(-2), flags, what)
        assert.deepEqual([tracestate, raw], [`own=${flags}`, 1], what)
      }
      return id
    }
    const [id] = await Promise.all([ask('01'), ask('00')])
    const isWhole = ({ calls }: Trace): boolean => calls.length === 4
    const traces = await app.tracesWhen((all) => all.some((one) => one.id === id && isWhole(one)))
    const [front, ...backs] = traces.find((one) => one.id === id)!.calls
    for (const { caller, service, parent } of backs)
      assert.deepEqual([caller, service, parent], ['front', 'back', front!.id])
  })

async function call(app: TracedApp, path: string, headers: Record<string, string> = {}): Promise<unknown> {
  const response = await fetch(new URL(path, app.url), { headers })
  const text = await response.text()
  assert.equal(response.status, 200, text)
  return JSON.parse(text)
}

async function start(run: Service['run'], accelerators: App['accelerators']): Promise<TracedApp> {
  const app = await loadApp(folder, { env: {} })
  const gateway = { ...app.gateway, entrance: wantedEntrance }
  const services = app.services.map((service) => ({ ...service, run }))
  return await TracedApp.start({ ...app, gateway, accelerators, services, traces: { sample: 0, keep: 100 } })
}
