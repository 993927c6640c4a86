/** Contexts in header fields as clients and programs may write them (W3C Trace Context). */
import assert from 'node:assert/strict'
import { request } from 'node:http'
import { json } from 'node:stream/consumers'
import { test } from 'node:test'
import type { App, Service } from '../../../src/config/app.ts'
import { loadApp } from '../../../src/config/load.ts'
import { acceleratorNames } from '../../../src/shared/accelerators.ts'
import { wantedEntrance } from '../../support/app/wanted-entrance.ts'
import { TracedApp } from '../support/traced-app.ts'

const folder = `${import.meta.dirname}/../programs/traces`

interface Seen {
  readonly traceparent: string
  readonly tracestate?: string
  readonly raw: number
  readonly distinct?: readonly string[]
  readonly rawStates: number
  readonly states?: readonly string[]
}

const known = 'abcdefabcdefabcdefabcdefabcdefab'
const parent = `00-${known}-1234567890123456-01`
const other = `00-${known.replaceAll('a', '0')}-1234567890123456-01`

/** What a client sends, whether its trace goes on, and which state a program gets. */
const cases: readonly (readonly [fields: readonly string[], continues: boolean, state: string | undefined])[] = [
  [['traceparent', parent, 'tracestate', 'a=1', 'TraceState', 'b=2'], true, 'a=1,b=2'],
  [['tracestate', 'a=1', 'Traceparent', parent], true, 'a=1'],
  [['traceparent', parent, 'tracestate', 'a=1', 'traceparent', other], false, undefined],
  [['traceparent', `ff${parent.slice(2)}`, 'tracestate', 'a=1'], false, undefined],
  [['tracestate', 'a=1', 'tracestate', 'b=2'], false, undefined],
]

for (const run of ['shared', 'thread', 'process'] as const)
  for (const accelerators of [acceleratorNames, []])
    test(`programs see one valid context, whatever the client sends (${run}, ${nameOf(accelerators)})`, async () => {
      await using app = await start(run, accelerators)
      for (const [fields, continues, state] of cases) {
        const seen = await get(new URL('/back', app.url), fields)
        const what = `${fields.join(' ')}: ${JSON.stringify(seen)}`
        assert.match(seen.traceparent, /^00-[0-9a-f]{32}-[0-9a-f]{16}-0[01]$/, what)
        assert.equal(seen.traceparent.includes(known), continues, what)
        assert.deepEqual([seen.raw, seen.distinct], [1, [seen.traceparent]], what)
        assert.deepEqual([seen.tracestate, seen.rawStates], [state, state === undefined ? 0 : 1], what)
        assert.deepEqual(seen.states, state === undefined ? undefined : [state], what)
      }
    })

function get(url: URL, fields: readonly string[]): Promise<Seen> {
  return new Promise((resolve, reject) => {
    const headers = ['host', url.host, 'connection', 'close', ...fields] as never
    request(url, { headers }, (response) => resolve(json(response) as Promise<Seen>))
      .on('error', reject)
      .end()
  })
}

function nameOf(accelerators: readonly string[]): string {
  return `${accelerators.length === 0 ? 'without' : 'with'} accelerators`
}

async function start(run: Service['run'], accelerators: App['accelerators']): Promise<TracedApp> {
  const app = await loadApp(folder, { env: {} })
  const gateway = { ...app.gateway, entrance: wantedEntrance }
  const services = app.services.map((service) => ({ ...service, run }))
  return await TracedApp.start({ ...app, gateway, accelerators, services, traces: { sample: 0, keep: 100 } })
}
