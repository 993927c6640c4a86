import assert from 'node:assert/strict'
import { safe } from '../../../../src/contract/client-entry.ts'
import type { Cases } from '../case.ts'

export const endings: Cases = {
  'a call whose time is over fails, and its method is told': async ({ probe, diary }) => {
    const [error] = await safe(probe.hang('one', { timeout: 30 }))
    assert.equal(error?.code, 'DEADLINE_EXCEEDED')
    assert.equal(error.status, 504)
    await diary.until('one began')
  },
  'the method hears of the end by its signal': async ({ probe, diary }) => {
    const giveUp = new AbortController()
    const call = safe(probe.hang('two', { signal: giveUp.signal }))
    await diary.until('two began')
    giveUp.abort()
    assert.equal((await call)[0]?.code, 'CALL_ABORTED')
    await diary.until('two aborted: CALL_ABORTED')
  },
  'a call that was given up before it began never begins': async ({ probe, diary }) => {
    const [error] = await safe(probe.hang('three', { signal: AbortSignal.abort() }))
    assert.equal(error?.code, 'CALL_ABORTED')
    assert.ok(!diary.has('three began'))
  },
  'a time of nothing is over': async ({ probe }) => {
    assert.equal((await safe(probe.hang('four', { timeout: 0 })))[0]?.code, 'DEADLINE_EXCEEDED')
  },
  'an answer after the end is nobody’s': async ({ probe, diary }) => {
    const giveUp = new AbortController()
    const call = safe(probe.ended('five', { signal: giveUp.signal }))
    await diary.until('five began')
    giveUp.abort()
    assert.equal((await call)[0]?.code, 'CALL_ABORTED')
  },
  'a method’s own limit holds where the caller says nothing': async ({ probe }) => {
    assert.equal((await safe(probe.limited()))[0]?.code, 'DEADLINE_EXCEEDED')
  },
  'a signal that is aborted after the answer does nothing': async ({ probe }) => {
    const giveUp = new AbortController()
    assert.equal(await probe.add({ a: 1 }, { signal: giveUp.signal, timeout: 60_000 }), 2)
    giveUp.abort()
  },
  'a service that is stopped ends the calls that wait for it, and is disposed': async ({ probe, diary, connected }) => {
    const call = safe(probe.hang('six', { timeout: 60_000 }))
    await diary.until('six began')
    await connected.stop()
    await diary.until('six aborted: SERVICE_UNAVAILABLE')
    await diary.until('disposed')
    const code = (await call)[0]?.code
    assert.ok(code === 'SERVICE_UNAVAILABLE' || code === 'SERVICE_HANGUP', code)
  },
  'a service that has stopped takes no call': async ({ probe, connected }) => {
    await probe.add({ a: 1 })
    await connected.stop()
    assert.equal((await safe(probe.add({ a: 1 })))[0]?.code, 'SERVICE_UNAVAILABLE')
  },
}
