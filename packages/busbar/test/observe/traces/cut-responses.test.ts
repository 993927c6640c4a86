/** The call's span has the status that its edge counts, if a response is not complete. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { loadApp } from '../../../src/config/load.ts'
import type { App, Service } from '../../../src/config/app.ts'
import { acceleratorNames } from '../../../src/shared/accelerators.ts'
import { pollUntil } from '../../support/app/test-app.ts'
import { builtAddon } from '../../entrance/served.ts'
import { type Trace, TracedApp } from '../support/traced-app.ts'

const folder = `${import.meta.dirname}/../programs/cut`
const clients = ['fetch', 'undici', 'node']

/** By how a response ends. One that the caller leaves counts with the status that was sent. */
const statuses: Record<string, number | null> = { none: null, cut: null, leave: 200 }

for (const accelerators of [acceleratorNames, []])
  describe(`responses that are not complete, ${accelerators.length === 0 ? 'without' : 'with'} accelerators`, () => {
    for (const run of ['shared', 'thread', 'process'] as const)
      for (const entrance of ['portable', 'native'] as const)
        test(
          `have the same status in traces and edges (${run}, ${entrance})`,
          { timeout: 120_000, skip: entrance === 'native' && builtAddon === undefined },
          async () => {
            await using app = await TracedApp.start(await cutApp(run, { accelerators }, entrance))
            const expected: string[] = []
            for (const client of clients)
              for (const [end, status] of Object.entries(statuses)) {
                const answer = await (await fetch(new URL(`/${client}/${end}`, app.url))).text()
                assert.equal(answer, end === 'leave' ? 'complete' : 'failed', `${client} ${end}`)
                expected.push(`/${end} ${status}`)
              }
            const traces = await app.tracesWhen((all) => all.length === expected.length && all.every(isWhole))
            const hops = traces.flatMap(({ calls }) => calls.filter(({ service }) => service === 'back'))
            assert.deepEqual(hops.map(({ path, status }) => `${path} ${status}`).sort(), expected.sort())
            // A process reports once a second.
            await pollUntil(() => countsTo(app, 'back').length === expected.length)
            assert.deepEqual(countsTo(app, 'back'), hops.map(({ status }) => `${status ?? 'none'}`).sort())
          },
        )
  })

async function cutApp(run: Service['run'], changes: Partial<App>, entrance: 'portable' | 'native'): Promise<App> {
  const app = await loadApp(folder, { env: {} })
  const services = app.services.map((service) => ({ ...service, run }))
  return { ...app, ...changes, services, gateway: { ...app.gateway, entrance }, traces: { sample: 1, keep: 1000 } }
}

/** Both sides of the call of each trace have arrived. */
function isWhole({ calls }: Trace): boolean {
  return calls.length === 2 && calls.every(({ run }) => run !== null)
}

/** The status of each call that the edges count. */
function countsTo(app: TracedApp, service: string): string[] {
  const outcomes = app.running.status().edges.flatMap(({ callee, outcomes }) => (callee === service ? outcomes : []))
  return outcomes.flatMap(({ status, count }) => Array.from({ length: count }, () => status)).sort()
}
