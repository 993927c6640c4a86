import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { loadApp } from '../../../src/config/load.ts'
import type { App, Service } from '../../../src/config/app.ts'
import { newTraceId } from '../../../src/shared/traces/trace-context.ts'
import { getTrace } from '../../../src/supervisor/admin/operations/traces.ts'
import { acceleratorNames } from '../../../src/shared/accelerators.ts'
import { wantedEntrance } from '../../support/app/wanted-entrance.ts'
import { type Hop, type Trace, TracedApp } from '../support/traced-app.ts'

const edges = `${import.meta.dirname}/../programs/edges`

const placements: Record<string, Service['run']> = {
  'in one thread': 'shared',
  'a thread each': 'thread',
  'a process each': 'process',
}

/** Over every transport, without all of them for each. */
for (const [run, accelerators] of [
  ['shared', acceleratorNames],
  ['thread', []],
  ['process', acceleratorNames],
] as const)
  test(`failed, streamed and abandoned calls of an edge are each one call of a trace (${run})`, async () => {
    const app_ = await placed(edges, run, { accelerators, traces: { sample: 1, keep: 100 } })
    await using app = await TracedApp.start(app_)
    for (const path of ['/http', '/typed', '/fault', '/unknown', '/cart/', '/cart/missing'])
      await (await fetch(new URL(path, app.url))).text()
    // A call may arrive before the answer that caused it, which its own worker sends.
    const isConnected = ({ calls }: Trace): boolean => calls.slice(1).every(({ parent }) => parent !== null)
    const traces = await app.tracesWhen(
      (all) => agreesWithEdges(app, all) && all.length === 6 && all.every(isConnected),
    )
    for (const { calls } of traces) {
      assert.equal(calls[0]!.caller, null)
      for (const call of calls.slice(1)) assert.equal(call.parent, calls[0]!.id, JSON.stringify(call))
      for (const call of calls) assert.ok(call.duration >= call.queue && (call.run ?? 0) >= 0, JSON.stringify(call))
    }
  })

/**
 * The caller of an edge is who has opened the connection, which others of the thread may use too.
 */
function agreesWithEdges(app: TracedApp, traces: readonly Trace[]): boolean {
  return keysOf(traces).join() === edgesOf(app).join()
}

function keyOf({ service, protocol, method, status }: Hop): string {
  return `${service} ${protocol} ${method} ${status ?? 'none'}`
}

function keysOf(traces: readonly Trace[]): string[] {
  return counted(traces.flatMap(({ calls }) => calls.map(keyOf)))
}

function edgesOf(app: TracedApp): string[] {
  const keys = app.running
    .status()
    .edges.flatMap(({ callee, protocol, method, outcomes }) =>
      outcomes.flatMap(({ status, count }) =>
        Array.from({ length: count }, () => `${callee} ${protocol} ${method} ${status}`),
      ),
    )
  return counted(keys)
}

function counted(keys: readonly string[]): string[] {
  return [...Map.groupBy(keys, (key) => key)].map(([key, all]) => `${key}: ${all.length}`).sort()
}

const folder = `${import.meta.dirname}/../programs/traces`
const trace = 'abcdefabcdefabcdefabcdefabcdefab'
const headers = { traceparent: `00-${trace}-1234567890123456-01`, tracestate: 'vendor=1' }

interface Seen {
  readonly traceparent: string
  readonly tracestate?: string
  readonly raw: number
  readonly distinct?: readonly string[]
}

for (const [where, run] of Object.entries(placements))
  for (const accelerators of [acceleratorNames, []])
    test(`the context of a client goes on to programs and back, ${where}, ${accelerators.length === 0 ? 'without' : 'with'} accelerators`, async () => {
      await using app = await TracedApp.start(await tracesApp(run, { accelerators }))
      const sent: { id: string; what: string; seen: Seen; services: readonly string[] }[] = []
      for (const path of ['/fetch', '/post', '/node', '/list', '/body', '/typed'])
        for (const method of ['GET', 'POST']) {
          const id = newTraceId()
          const traceparent = `00-${id}-1234567890123456-01`
          const body = method === 'POST' ? 'some bytes' : undefined
          const response = await fetch(new URL(path, app.url), { method, body, headers: { ...headers, traceparent } })
          const seen = (await response.json()) as Seen
          const services = path === '/typed' ? ['front', 'prices', 'back'] : ['front', 'back']
          sent.push({ id, what: `${method} ${path}: ${JSON.stringify(seen)}`, seen, services })
        }
      const traces = await app.tracesWhen((all) => agreesWithEdges(app, all) && isWhole(all))
      assert.equal(traces.length, sent.length)
      for (const { id, what, seen, services } of sent) {
        assert.equal(seen.raw, 1, what)
        assert.deepEqual(seen.distinct, [seen.traceparent], what)
        assert.equal(seen.tracestate, 'vendor=1', what)
        const { calls } = traces.find((one) => one.id === id)!
        assert.deepEqual(
          calls.map(({ service, depth }) => ({ service, depth })),
          services.map((service, depth) => ({ service, depth })),
          what,
        )
        const [, traceSeen, parentSeen] = seen.traceparent.split('-')
        assert.equal(traceSeen, id, what)
        assert.ok(calls.at(-1)!.spans.includes(parentSeen!), `${what} ${JSON.stringify(calls)}`)
      }
    })

/** The parts of every call have arrived. */
function isWhole(traces: readonly Trace[]): boolean {
  return traces.length > 0 && traces.every(({ calls }) => calls.every(({ run }) => run !== null))
}

test('the body of a request counts in bytes, and a queue in time', async () => {
  await using app = await TracedApp.start(await tracesApp('thread'))
  await (await fetch(new URL('/post', app.url), { headers })).text()
  const { calls } = await app.traceWhen(trace, 2)
  const [, back] = calls
  assert.equal(back!.sent, 1000)
  assert.ok(back!.received > 50)
  assert.ok(back!.wire !== null && back!.run !== null && back!.wire + back!.run + back!.queue <= back!.duration + 0.01)
  assert.equal(back!.transport, 'thread')
})

for (const run of ['thread', 'process'] as const)
  for (const accelerators of [acceleratorNames, []])
    for (const path of ['/slow', '/slow-node', '/slow-typed'])
      describe(`the wait of calls for a limit (${path}, ${run}, ${accelerators.length === 0 ? 'without' : 'with'} accelerators)`, () => {
        const callThree = async ({ url }: TracedApp): Promise<void> => {
          await Promise.all([1, 2, 3].map(async () => await (await fetch(new URL(path, url))).text()))
        }

        test('is queue', async () => {
          await using app = await limitedApp(run, { accelerators, traces: { sample: 1, keep: 100 } })
          await callThree(app)
          const traces = await app.tracesWhen(
            (all) => all.length === 3 && all.every(({ calls }) => calls.length === 2) && isWhole(all),
          )
          const calls = limitedCalls(traces)
          const [first, last] = [calls[0]!, calls.at(-1)!]
          // It has waited until both others were over.
          assert.ok(last.queue > first.run!, JSON.stringify(calls))
          for (const { queue, wire, run: own, duration } of calls) assert.ok(queue + wire! + own! <= duration + 0.01)
          const transports = new Set(calls.map(({ transport }) => transport))
          await using unlimited = await TracedApp.start(
            await tracesApp(run, { accelerators, traces: { sample: 1, keep: 100 } }),
          )
          await (await fetch(new URL(path, unlimited.url), { headers })).text()
          const { transport } = (await unlimited.traceWhen(trace, 2)).calls[1]!
          assert.deepEqual(transports, new Set([transport]))
        })

        test('is queue for slow calls of traces that are not sampled', async () => {
          await using app = await limitedApp(run, { accelerators, traces: { sample: 0, keep: 100, slow: 250 } })
          await callThree(app)
          // Most of the last one's time: it has waited until both others were over. The parts of a
          // call arrive one by one.
          const hasWaited = ({ queue, duration }: Hop): boolean => queue > duration / 3
          await app.tracesWhen((all) => limitedCalls(all).some(hasWaited))
        })
      })

function limitedCalls(traces: readonly Trace[]): Hop[] {
  return traces
    .flatMap(({ calls }) => calls.filter(({ service }) => service !== 'front'))
    .toSorted((one, other) => one.queue - other.queue)
}

/** Two services answer one call at a time. */
async function limitedApp(run: Service['run'], changes: Partial<App>): Promise<TracedApp> {
  const app = await tracesApp(run, changes)
  const services = app.services.map((one) => (one.name === 'front' ? one : { ...one, concurrency: 1 }))
  return await TracedApp.start({ ...app, services })
}

test('of traces that are not sampled, failed calls are recorded; without traces, nothing is sent', async () => {
  await using app = await TracedApp.start(await tracesApp('shared'))
  await (await fetch(new URL('/fetch', app.url))).text()
  await (await fetch(new URL('/fault', app.url))).text()
  const traces = await app.tracesWhen((all) => all.length > 0)
  assert.deepEqual(
    traces.map(({ failed, calls }) => [failed, calls.map(({ service, status }) => [service, status])]),
    [[1, [['back', 500]]]],
  )
  await using off = await TracedApp.start(await tracesApp('shared', { traces: undefined }))
  const seen = (await (await fetch(new URL('/fetch', off.url), { headers })).json()) as Seen
  assert.equal(seen.traceparent, undefined)
  assert.deepEqual(await off.traces(), [])
  await assert.rejects(off.admin.json(getTrace, { id: trace }), { code: 'TRACE_UNKNOWN' })
})

for (const run of ['shared', 'process'] as const)
  test(`of traces that are not sampled, slow calls are recorded if the config says so (${run})`, async () => {
    await using app = await TracedApp.start(await tracesApp(run, { traces: { sample: 0, keep: 100, slow: 90 } }))
    await (await fetch(new URL('/slow', app.url))).text()
    const [{ calls }] = (await app.tracesWhen((all) => isWhole(all) && all[0]!.calls.length === 2)) as [Trace]
    const [front, back] = calls
    assert.deepEqual([front!.service, back!.service, back!.parent], ['front', 'back', front!.id])
  })

test('a program may begin a trace of its own', async () => {
  await using app = await TracedApp.start(await tracesApp('shared'))
  const seen = (await (await fetch(new URL('/own', app.url), { headers })).json()) as Seen
  assert.match(seen.traceparent, /^00-1{32}-/)
  const { calls } = await app.traceWhen('1'.repeat(32), 1)
  assert.equal(calls[0]!.service, 'back')
})

async function tracesApp(run: Service['run'], changes: Partial<App> = {}): Promise<App> {
  return await placed(folder, run, changes)
}

async function placed(from: string, run: Service['run'], changes: Partial<App>): Promise<App> {
  const app = await loadApp(from, { env: {} })
  const gateway = { ...app.gateway, entrance: wantedEntrance }
  return { ...app, gateway, ...changes, services: app.services.map((service) => ({ ...service, run })) }
}
