import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { describe, it } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { safe } from '../../src/contract/client-entry.ts'
import { currentScope } from '../../src/mesh/scope.ts'
import { TestLog } from './conformance/backend.ts'
import { meshInProduction } from './conformance/backends/mesh.ts'
import { CallRecord, implementProbe, probe } from './conformance/contract.ts'

const store = new AsyncLocalStorage<string>()
const seen: [where: string, store: string | undefined, service: string | undefined][] = []
const note = (where: string): void => void seen.push([where, store.getStore(), currentScope()?.service])

/** The methods of the probe that inspect their context. */
const implementation = {
  ...implementProbe(new CallRecord()),
  bind:
    () =>
    async (_input: unknown, { signal }: { signal: AbortSignal }) => {
      note('method')
      signal.addEventListener('abort', () => note('abort'))
      await new Promise((resolve) => setTimeout(resolve, 1))
      note('later')
      await new Promise(() => {})
    },
}

describe('the caller’s async context', () => {
  it('is not visible to the method, neither during the call, nor later, nor on cancellation', async () => {
    const connected = await meshInProduction.start({ implementation, log: new TestLog() })
    const controller = new AbortController()
    await store.run('secret', async () => {
      const limited = safe(connected.probe.hang('x', { timeout: 20 }))
      const given = safe(connected.probe.hang('x', { signal: controller.signal }))
      assert.equal((await limited)[0]?.code, 'DEADLINE_EXCEEDED')
      controller.abort()
      assert.equal((await given)[0]?.code, 'CALL_ABORTED')
      assert.equal(store.getStore(), 'secret')
    })
    // The methods continue after their calls have ended.
    while (seen.length < 6) await turn()
    assert.deepEqual(new Set(seen.map(([where]) => where)), new Set(['method', 'later', 'abort']))
    assert.equal(seen.length, 6)
    for (const [where, value, service] of seen)
      assert.deepEqual([where, value, service], [where, undefined, probe.name])
    await connected.stop()
  })
})
