/**
 * The cost of a typed call in one thread against a plain function call: `node bench/typed-call.ts
 * [rounds]`. Checks the answers first. Prints nanoseconds per call, the median of the rounds, and
 * the ratio to the plain call.
 */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { client } from '../src/contract/client-entry.ts'
import { startHost } from '../src/contract/host/typed-host.ts'
import { fn, service, type } from '../src/contract/index.ts'
import type { LocalEndpoint } from '../src/mesh/routing/endpoint.ts'
import { Router } from '../src/mesh/routing/router.ts'
import { CallContexts } from '../src/mesh/typed/call-contexts.ts'
import { offerTypedCalls } from '../src/mesh/typed/mesh-transport.ts'

interface Input {
  readonly id: number
}

const calls = 200_000
const rounds = Number(process.argv[2] ?? 15)
const contract = service('bench', { get: fn({ input: type<Input>(), output: type<Input>() }) })
const implementation = contract.implement({ get: async (input) => input })
const options = { clone: false, log: console } as const

const plain = async (input: Input): Promise<Input> => input
const typed = client(contract, implementation, options)
let wrapped = 0
const wrap = async (input: Input): Promise<Input> => {
  try {
    return await plain(input)
  } catch (error) {
    throw error as Error
  } finally {
    wrapped--
  }
}

/** The same call through the mesh, as between services of one worker. */
const mesh = await byMesh()
const signal = new AbortController().signal
const variants: Record<string, (input: Input) => Promise<Input>> = {
  'awaited function': plain,
  'one async function around it': wrap,
  'typed call': (input) => typed.get(input),
  'typed call by the mesh': (input) => mesh.get(input),
  'typed call with a timeout': (input) => typed.get(input, { timeout: 1000 }),
  'typed call with a signal': (input) => typed.get(input, { signal }),
}

const input = { id: 1 }
for (const call of Object.values(variants)) assert.equal(await call(input), input)
assert.equal(wrapped, -1)

const results = new Map(Object.keys(variants).map((name) => [name, [] as number[]]))
for (let round = 0; round < rounds; round++)
  for (const [name, call] of Object.entries(variants)) results.get(name)!.push(await measure(call))

const base = median(results.get('awaited function')!)
for (const [name, times] of results) {
  const time = median(times)
  console.log(`${name.padEnd(32)} ${time.toFixed(0).padStart(6)} ns  ${(time / base).toFixed(2)} x`)
}

async function byMesh(): Promise<typeof typed> {
  const router = new Router(['bench'])
  const contexts = new CallContexts('bench')
  const enter: LocalEndpoint['enter'] = (scope, run) => contexts.enterScope(scope, run)
  const parts = { name: 'bench', maxInFlight: 1000, client, enter: contexts.enter }
  const host = await startHost(implementation, { ...options, ...parts })
  router.add({ at: 'here', service: 'bench', server: createServer(), typed: host, state: 'serving', enter })
  offerTypedCalls({ router, maxHops: 16, validate: 'always' })
  return client(contract)
}

async function measure(call: (input: Input) => Promise<Input>): Promise<number> {
  const began = process.hrtime.bigint()
  for (let at = 0; at < calls; at++) await call(input)
  return Number(process.hrtime.bigint() - began) / calls
}

function median(times: readonly number[]): number {
  return times.toSorted((one, other) => one - other)[times.length >> 1]!
}
