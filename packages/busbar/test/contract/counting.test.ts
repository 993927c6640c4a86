/** Which calls a typed service counts as failures. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { client } from '../../src/contract/client-entry.ts'
import { startHost, type TypedHost } from '../../src/contract/host/typed-host.ts'
import { fn, service, stream, type } from '../../src/contract/index.ts'
import { InstanceCells } from '../../src/shared/metrics/instance-cells.ts'

const quiet = { debug() {}, info() {}, warn() {}, error() {} }
const never = new Promise<never>(() => {})

/** Throws at every look. */
function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  return proxy
}

function soonOrLater(when: 'now' | 'later', make: () => object): unknown {
  return when === 'now' ? make() : new Promise((resolve) => setImmediate(resolve)).then(make)
}

const slow = service('slow', {
  answer: fn({ output: type<number>() }),
  hang: fn(),
  unreadable: fn({ input: type<'now' | 'later'>(), output: type<unknown>() }),
  rejected: fn({ input: type<'now' | 'later'>() }),
  count: stream({ output: type<number>() }),
  silence: stream({ output: type<number>() }),
})
const implementation = slow.implement({
  answer: () => 1,
  hang: () => never,
  unreadable: (when) => soonOrLater(when, revoked),
  rejected: (when) =>
    soonOrLater(when, () => {
      throw revoked()
    }) as undefined,
  async *count() {
    yield 1
    await never
  },
  async *silence() {
    await never
    yield 1
  },
})

const cases: Readonly<Record<string, readonly [failures: number, run: (host: TypedHost) => Promise<unknown>]>> = {
  'an answer is not a failure': [0, (host) => call(host, 'answer', {})],
  'a call that its caller aborts is a failure': [1, (host) => call(host, 'hang', { signal: AbortSignal.timeout(10) })],
  'a call that times out is a failure': [1, (host) => call(host, 'hang', { timeout: 10 })],
  'a stream that is aborted before its first value is a failure': [
    1,
    (host) => read(host, 'silence', { signal: AbortSignal.timeout(10) }),
  ],
  'a stream that is aborted later is not a failure': [
    0,
    (host) => read(host, 'count', { signal: AbortSignal.timeout(50) }),
  ],
  'a stream that times out is a failure': [1, (host) => read(host, 'count', { timeout: 50 })],
}

for (const [name, [failures, run]] of Object.entries(cases))
  test(name, async () => {
    const count = new InstanceCells()
    const host = await startHost(implementation, {
      name: 'slow',
      log: quiet,
      clone: false,
      maxInFlight: 10,
      client,
      count,
    })
    await run(host).catch(() => {})
    assert.deepEqual([count.calls, count.failures, count.inFlight], [1, failures, 0])
    await host.stop(0)
  })

for (const method of ['unreadable', 'rejected'])
  for (const when of ['now', 'later'])
    for (const way of ['a promise', 'a callback'])
      test(`a call fails whose value cannot even be looked at: ${method} ${when}, by ${way}`, async () => {
        const count = new InstanceCells()
        const options = { name: 'slow', log: quiet, clone: false, maxInFlight: 10, client, count }
        const host = await startHost(implementation, options)
        const hosted = host.method(method)
        const error = await new Promise<{ code: string }>((failed) => {
          const call = hosted.open({ mayAbort: way === 'a callback' })
          if (way === 'a promise') hosted.answer(when, call, false).catch(failed)
          else hosted.callWithCallback({ answered: () => {}, failed }, when, call, false)
        })
        assert.equal(error.code, 'INTERNAL')
        assert.deepEqual([count.calls, count.failures, count.inFlight], [1, 1, 0])
        await host.stop(0)
      })

type Origin = Parameters<ReturnType<TypedHost['method']>['open']>[0]

function call(host: TypedHost, name: string, origin: Origin): Promise<unknown> {
  return host.method(name).call(undefined, { mayAbort: true, ...origin }, true)
}

async function read(host: TypedHost, name: string, origin: Origin): Promise<void> {
  const method = host.method(name)
  const values: AsyncIterable<unknown> = method.stream(undefined, method.open({ mayAbort: true, ...origin }), true)
  for await (const _ of values);
}
