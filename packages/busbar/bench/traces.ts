/**
 * What traces cost: `node packages/busbar/bench/traces.ts [rounds]`. Measures the CPU time of one
 * thread, with and without a tracer in turns, since the machine is shared.
 */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { client } from '../src/contract/client-entry.ts'
import { startHost } from '../src/contract/host/typed-host.ts'
import { fn, service, type } from '../src/contract/index.ts'
import { startMesh } from '../src/mesh/mesh.ts'
import type { LocalEndpoint } from '../src/mesh/routing/endpoint.ts'
import { Router } from '../src/mesh/routing/router.ts'
import { Tracer } from '../src/mesh/tracing/tracer.ts'
import { CallContexts } from '../src/mesh/typed/call-contexts.ts'
import { offerTypedCalls } from '../src/mesh/typed/mesh-transport.ts'
import { exchanges, streams } from '../test/support/mesh/accelerators.ts'
import { TestEndpoint } from '../test/support/mesh/test-endpoint.ts'

const rounds = Number(process.argv[2] ?? 200)
const names = ['a', 'b', 'c', 'd']
const router = new Router([...names, 'typed'])
for (const name of names)
  router.add(
    new TestEndpoint(
      name,
      createServer((_, response) => response.end('{"id":1}')),
    ),
  )

const contract = service('typed', { get: fn({ input: type<number>(), output: type<number>() }) })
const { enter } = new CallContexts('typed')
const typed = await startHost(contract.implement({ get: async (input) => input }), {
  name: 'typed',
  log: console,
  clone: false,
  maxInFlight: 10_000,
  client,
  enter,
})
router.add(Object.assign(new TestEndpoint('typed', createServer()), { typed }) as LocalEndpoint)

let recorded = 0
const sink = { add: () => void recorded++ }
const tracers = {
  off: undefined,
  'at 0 %': new Tracer(0, sink),
  'at 1 %': new Tracer(0.01, sink),
  'at 100 %': new Tracer(1, sink),
}

let mesh: { tracer?: Tracer | undefined } = {}
await startMesh({
  router,
  maxHops: 16,
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
async function useTracer(tracer: Tracer | undefined): Promise<void> {
  mesh.tracer = tracer
  offerTypedCalls({ router, maxHops: 16, validate: 'edge', tracer })
  bound = client(contract) as typeof bound
  await bound.get(0)
}

async function timeOf({ calls, call }: (typeof arms)[string]): Promise<number> {
  const before = process.threadCpuUsage()
  for (let n = 0; n < calls; n++) await call()
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / calls
}

for (const [name, arm] of Object.entries(arms)) {
  const times = Object.fromEntries(Object.keys(tracers).map((key) => [key, [] as number[]]))
  for (let round = -5; round < rounds; round++)
    for (const [key, tracer] of Object.entries(tracers)) {
      await useTracer(tracer)
      const time = await timeOf(arm)
      if (round >= 0) times[key]!.push(time)
    }
  for (const [key, all] of Object.entries(times)) {
    const ratios = all.map((time, at) => time / times['off']![at]!)
    const [low, middle, high] = [0.25, 0.5, 0.75].map((share) => quantile(ratios, share).toFixed(3))
    console.log(`${name}, ${key}: ${quantile(all, 0.25).toFixed(3)} µs, ${middle} x (${low} to ${high})`)
  }
}
assert.ok(recorded > 0)
// The pools of connections stay open.
process.exit()

function quantile(values: readonly number[], share: number): number {
  return values.toSorted((one, other) => one - other)[Math.floor(share * (values.length - 1))]!
}
