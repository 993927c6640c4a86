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
  'the method of a call whose time is over always hears that it is': async ({ probe, diary }) => {
    const ends = Array.from({ length: 20 }, async (_, at) => {
      const name = `over ${at}`
      assert.equal((await safe(probe.hang(name, { timeout: 500 + 10 * at })))[0]?.code, 'DEADLINE_EXCEEDED')
      const gaveUp = diary.until(`${name} aborted: CALL_ABORTED`).then(() => assert.fail(`${name} was given up`))
      await Promise.race([diary.until(`${name} aborted: DEADLINE_EXCEEDED`), gaveUp])
    })
    await Promise.all(ends)
  },
  'so does the method of a stream': async ({ probe, diary }) => {
    const values = probe.hanging('late stream', { timeout: 1000 })
    assert.equal((await values.next()).value, 1)
    await assert.rejects(values.next(), { code: 'DEADLINE_EXCEEDED' })
    assert.deepEqual(await values.next(), { done: true, value: undefined })
    await diary.until('late stream aborted: DEADLINE_EXCEEDED')
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
  'a negative time is over, and the method never begins': async ({ probe, diary }) => {
    for (const timeout of [-1, -Infinity]) {
      assert.equal((await safe(probe.hang(`late ${timeout}`, { timeout })))[0]?.code, 'DEADLINE_EXCEEDED')
      const stream = probe.endless(`late ${timeout}`, { timeout })
      await assert.rejects(stream.next(), { code: 'DEADLINE_EXCEEDED' })
      assert.ok(!diary.has(`late ${timeout} began`))
    }
  },
  'a time that is no number is refused by its name': async ({ probe }) => {
    for (const timeout of [NaN, '50', 'soon', null, {}, 50n] as never[]) {
      const [error] = await safe(probe.hang('never', { timeout }))
      assert.equal(error?.code, 'INPUT_INVALID', String(timeout))
      if (error?.code === 'INPUT_INVALID') assert.deepEqual(error.data.issues[0]?.path, ['timeout'])
      await assert.rejects(probe.endless('never', { timeout }).next(), { code: 'INPUT_INVALID' })
    }
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
