/**
 * What it costs to count calls by edge: `node packages/busbar/bench/edges.ts [rounds]`. Measures the
 * CPU time of one thread, on against off in turns, since the machine is shared, and checks that
 * every call was counted.
 */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { client } from '../src/contract/client-entry.ts'
import { startHost } from '../src/contract/host/typed-host.ts'
import { fn, service, type } from '../src/contract/index.ts'
import { startMesh } from '../src/mesh/mesh.ts'
import { Meter } from '../src/mesh/meter.ts'
import type { LocalEndpoint } from '../src/mesh/routing/endpoint.ts'
import { Router } from '../src/mesh/routing/router.ts'
import { CallContexts } from '../src/mesh/typed/call-contexts.ts'
import { offerTypedCalls } from '../src/mesh/typed/mesh-transport.ts'
import type { EdgeTable } from '../src/shared/metrics/edge-table.ts'
import { InstanceTable } from '../src/shared/metrics/instance-table.ts'
import { exchanges, streams } from '../test/support/mesh/accelerators.ts'
import { TestEndpoint } from '../test/support/mesh/test-endpoint.ts'

const rounds = Number(process.argv[2] ?? 200)
const names = ['a', 'b', 'c', 'd']
const table = new InstanceTable({ rows: 1, services: [...names, 'typed'].map((name) => ({ name })) })
const meter = new Meter(table.edges(0))
const router = new Router([...names, 'typed'])
for (const name of names)
  router.add(
    new TestEndpoint(
      name,
      createServer((_, response) => response.end('{"id":1}')),
    ),
  )

const contract = service('typed', { get: fn({ input: type<number>(), output: type<number>() }) })
const contexts = new CallContexts('typed')
const typed = await startHost(contract.implement({ get: async (input) => input }), {
  name: 'typed',
  log: console,
  clone: false,
  maxInFlight: 10_000,
  client,
  enter: contexts.enter,
})
router.add(Object.assign(new TestEndpoint('typed', createServer()), { typed }) as LocalEndpoint)

/** Its meter is looked up for each request, and that of typed calls once for each method. */
let mesh: { meter?: Meter | undefined } = {}
await startMesh({
  router,
  maxHops: 16,
  meter,
  streams,
  exchanges: {
    open: (...call) => exchanges!.open(...call),
    capture: (context) => exchanges!.capture((mesh = context)),
  },
})
async function fanOut(): Promise<void> {
  const answers = await Promise.all(names.map(async (name) => await (await fetch(`http://${name}.internal/`)).json()))
  assert.equal(answers.length, 4)
}

const arms: Record<string, { readonly calls: number; readonly call: () => Promise<unknown> }> = {
  'a fan-out to four programs by fetch': { calls: 1000, call: fanOut },
  'a typed call': { calls: 30_000, call: () => bound.get(1) },
}

let bound: { get(input: number): Promise<number> }

/** For the calls to come. */
async function useMeter(own: Meter | undefined): Promise<void> {
  mesh.meter = own
  offerTypedCalls({ router, maxHops: 16, validate: 'edge', meter: own })
  bound = client(contract) as typeof bound
  await bound.get(0)
}

const renewing = setInterval(() => meter.renew(), 1000).unref()
for (const [name, { calls, call }] of Object.entries(arms)) {
  const times = { on: [] as number[], off: [] as number[] }
  for (let round = 0; round < rounds; round++)
    for (const how of round % 2 === 0 ? (['on', 'off'] as const) : (['off', 'on'] as const)) {
      await useMeter(how === 'on' ? meter : undefined)
      const before = counted()
      const began = process.threadCpuUsage()
      for (let at = 0; at < calls; at++) await call()
      const { user, system } = process.threadCpuUsage(began)
      times[how].push((user + system) / calls)
      const expected = how === 'off' ? 0 : call === fanOut ? calls * 4 : calls
      assert.equal(counted() - before, expected)
    }
  const ratios = times.on.map((on, round) => on / times.off[round]!)
  const [on, off] = [times.on, times.off].map((all) => quantile(all, 0.25).toFixed(3))
  const [low, middle, high] = [0.25, 0.5, 0.75].map((share) => quantile(ratios, share).toFixed(3))
  console.log(`${name}: ${on} µs on, ${off} µs off (first quartiles); ${middle} x (${low} to ${high})`)
}
clearInterval(renewing)
process.exit()

function counted(): number {
  const edges: EdgeTable = table.edges(0)
  return Array.from({ length: edges.outcomes }, (_, at) => edges.outcomeOf(at).count).reduce((sum, one) => sum + one, 0)
}

function quantile(values: readonly number[], share: number): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length * share)]!
}
