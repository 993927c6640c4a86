import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { App, Service } from '../../../src/config/app.ts'
import { loadApp } from '../../../src/config/load.ts'
import { acceleratorNames } from '../../../src/shared/accelerators.ts'
import { newTraceId } from '../../../src/shared/traces/trace-context.ts'
import { wantedEntrance } from '../../support/app/wanted-entrance.ts'
import { type Trace, TracedApp } from '../support/traced-app.ts'

const folder = `${import.meta.dirname}/../programs/spans`

interface Answer {
  readonly active: { readonly traceId: string; readonly spanId: string }
  readonly carrier: { readonly traceparent: string }
  readonly after: string
  readonly inside: { readonly spanId: string }
  readonly seen: { readonly traceparent: string }
}

for (const run of ['shared', 'thread', 'process'] as const)
  for (const accelerators of [acceleratorNames, []])
    test(`spans of a service join the trace of its call, and are the parents of its calls (${run}, ${accelerators.length === 0 ? 'without' : 'with'} accelerators)`, async () => {
      await using app = await TracedApp.start(await spansApp(run, { accelerators }))
      for (const path of ['/fetch', '/node', '/typed']) {
        const { id, answer } = await call(app, path)
        const { calls, own } = await traceWhen(app, id, path === '/typed' ? 3 : 2)
        const [web, callee] = calls
        const [work, inner] = own
        const what = `${path} ${JSON.stringify({ calls, own, answer })}`
        assert.ok(web!.spans.includes(answer.active.spanId), what)
        assert.equal(answer.active.traceId, id, what)
        assert.equal(answer.carrier.traceparent, `00-${id}-${answer.active.spanId}-01`, what)
        assert.equal(answer.after, answer.active.spanId, what)
        assert.deepEqual(
          [work!.name, work!.scope, work!.call, work!.id],
          ['work', 'shop', web!.id, answer.inside.spanId],
          what,
        )
        assert.ok(web!.spans.includes(work!.parent!), what)
        assert.deepEqual(
          [inner!.name, inner!.parent, inner!.failed, inner!.message],
          ['inner', work!.id, true, 'no stock'],
          what,
        )
        assert.deepEqual(
          inner!.events.map(({ name }) => name),
          ['begun', 'exception'],
          what,
        )
        assert.deepEqual([callee!.within, callee!.parent, callee!.depth], [work!.id, web!.id, 1], what)
        if (path !== '/typed') continue
        const lookUp = own.at(-1)!
        assert.deepEqual([lookUp.name, lookUp.service, lookUp.call], ['look up', 'prices', callee!.id], what)
      }
    })

test('without a sampled trace, spans of a service are not recorded, and its context goes on', async () => {
  await using app = await TracedApp.start(await spansApp('shared', { traces: { sample: 0, keep: 100 } }))
  const { answer } = await call(app, '/fetch', '00')
  assert.equal(answer.inside.spanId.length, 16)
  assert.match(answer.seen.traceparent, /-00$/)
  assert.deepEqual(await app.traces(), [])
})

async function call(app: TracedApp, path: string, flags = '01'): Promise<{ id: string; answer: Answer }> {
  const id = newTraceId()
  const headers = { traceparent: `00-${id}-1234567890123456-${flags}` }
  const response = await fetch(new URL(path, app.url), { headers })
  const text = await response.text()
  assert.equal(response.status, 200, text)
  return { id, answer: JSON.parse(text) as Answer }
}

async function traceWhen(app: TracedApp, id: string, own: number): Promise<Trace> {
  const isWhole = (one: Trace): boolean =>
    one.id === id && one.own.length === own && one.calls.length === 2 && one.calls.every((hop) => hop.run !== null)
  return (await app.tracesWhen((traces) => traces.some(isWhole))).find((one) => one.id === id)!
}

async function spansApp(run: Service['run'], changes: Partial<App> = {}): Promise<App> {
  const app = await loadApp(folder, { env: {} })
  const gateway = { ...app.gateway, entrance: wantedEntrance }
  return { ...app, gateway, ...changes, services: app.services.map((service) => ({ ...service, run })) }
}
