/** What is counted of a client that leaves while it gets a response: no failure of the service. */
import assert from 'node:assert/strict'
import { get } from 'node:http'
import { describe, test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { ScrapedApp } from '../support/scraped-app.ts'
import { parseMetrics } from '../../support/app/prometheus.ts'
import { builtAddon } from '../../entrance/served.ts'

const file = `${import.meta.dirname}/../programs/endless.mjs`
const streams = 5

for (const entrance of ['portable', 'native'] as const)
  describe(`streams that clients leave, at the ${entrance} entrance`, { skip: builtAddon === undefined }, () => {
    for (const run of ['shared', 'thread', 'process'] as const)
      for (const leave of ['destroy', 'resetAndDestroy'] as const)
        test(`count with the status that was sent, by ${leave} (${run})`, async () => {
          await using scraped = await ScrapedApp.start({ services: { web: { file, run } }, gateway: { entrance } })
          for (let n = 0; n < streams; n++) await leaveStream(scraped.app.url, leave)
          await untilCounted(scraped, { calls: streams, failures: 0, 'in flight': 0, 'status 200': streams })
        })
  })

async function leaveStream(url: string, leave: 'destroy' | 'resetAndDestroy'): Promise<void> {
  const request = get(url, { agent: false })
  const { promise, resolve } = Promise.withResolvers<void>()
  request.on('response', (response) => {
    response.on('error', () => {})
    response.once('data', () => {
      request.socket![leave]()
      resolve()
    })
  })
  await promise
}

/** A process reports once a second. */
async function untilCounted(scraped: ScrapedApp, expected: Record<string, number>): Promise<void> {
  const limit = performance.now() + 60_000
  for (;;) {
    const counts = countsOf(await scraped.scrape())
    if (isDeepStrictEqual(counts, expected)) return
    if (performance.now() > limit) assert.deepEqual(counts, expected)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

function countsOf(text: string): Record<string, number> {
  const metrics = parseMetrics(text)
  const sum = (name: string): number => (metrics.get(name)?.samples ?? []).reduce((all, { value }) => all + value, 0)
  const statuses = (metrics.get('busbar_edge_calls_total')?.samples ?? []).map(
    ({ labels, value }) => [`status ${labels['status']}`, value] as const,
  )
  return {
    calls: sum('busbar_calls_total'),
    failures: sum('busbar_call_failures_total'),
    'in flight': sum('busbar_calls_in_flight') + sum('busbar_edge_calls_in_flight'),
    ...Object.fromEntries(statuses),
  }
}
