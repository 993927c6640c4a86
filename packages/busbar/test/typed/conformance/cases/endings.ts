import assert from 'node:assert/strict'
import { safe } from '../../../../src/contract/client-entry.ts'
import type { Cases } from '../case.ts'

export const endings: Cases = {
  'a call past its deadline fails': async ({ probe, record }) => {
    const [error] = await safe(probe.hang('one', { timeout: 30 }))
    assert.equal(error?.code, 'DEADLINE_EXCEEDED')
    assert.equal(error.status, 504)
    await record.until('one began')
  },
  'the signal of an expired call aborts with DEADLINE_EXCEEDED': async ({ probe, record }) => {
    const ends = Array.from({ length: 20 }, async (_, at) => {
      const name = `over ${at}`
      assert.equal((await safe(probe.hang(name, { timeout: 500 + 10 * at })))[0]?.code, 'DEADLINE_EXCEEDED')
      const cancelled = record.until(`${name} aborted: CALL_ABORTED`).then(() => assert.fail(`${name} was cancelled`))
      await Promise.race([record.until(`${name} aborted: DEADLINE_EXCEEDED`), cancelled])
    })
    await Promise.all(ends)
  },
  'the signal of an expired stream does, too': async ({ probe, record }) => {
    const values = probe.hanging('late stream', { timeout: 1000 })
    assert.equal((await values.next()).value, 1)
    await assert.rejects(values.next(), { code: 'DEADLINE_EXCEEDED' })
    assert.deepEqual(await values.next(), { done: true, value: undefined })
    await record.until('late stream aborted: DEADLINE_EXCEEDED')
  },
  'cancelling a call aborts the method’s signal': async ({ probe, record }) => {
    const controller = new AbortController()
    const call = safe(probe.hang('two', { signal: controller.signal }))
    await record.until('two began')
    controller.abort()
    assert.equal((await call)[0]?.code, 'CALL_ABORTED')
    await record.until('two aborted: CALL_ABORTED')
  },
  'a call that is cancelled before it starts never starts': async ({ probe, record }) => {
    const [error] = await safe(probe.hang('three', { signal: AbortSignal.abort() }))
    assert.equal(error?.code, 'CALL_ABORTED')
    assert.ok(!record.has('three began'))
  },
  'a timeout of 0 has expired': async ({ probe }) => {
    assert.equal((await safe(probe.hang('four', { timeout: 0 })))[0]?.code, 'DEADLINE_EXCEEDED')
  },
  'a negative timeout has expired, and the method never starts': async ({ probe, record }) => {
    for (const timeout of [-1, -Infinity]) {
      assert.equal((await safe(probe.hang(`late ${timeout}`, { timeout })))[0]?.code, 'DEADLINE_EXCEEDED')
      const stream = probe.endless(`late ${timeout}`, { timeout })
      await assert.rejects(stream.next(), { code: 'DEADLINE_EXCEEDED' })
      assert.ok(!record.has(`late ${timeout} began`))
    }
  },
  'a timeout that is not a number is refused, and the error names it': async ({ probe }) => {
    for (const timeout of [NaN, '50', 'soon', null, {}, 50n] as never[]) {
      const [error] = await safe(probe.hang('never', { timeout }))
      assert.equal(error?.code, 'INPUT_INVALID', String(timeout))
      if (error?.code === 'INPUT_INVALID') assert.deepEqual(error.data.issues[0]?.path, ['timeout'])
      await assert.rejects(probe.endless('never', { timeout }).next(), { code: 'INPUT_INVALID' })
    }
  },
  'a result after the end is dropped': async ({ probe, record }) => {
    const controller = new AbortController()
    const call = safe(probe.ended('five', { signal: controller.signal }))
    await record.until('five began')
    controller.abort()
    assert.equal((await call)[0]?.code, 'CALL_ABORTED')
  },
  'a method’s own timeout applies if the caller sets none': async ({ probe }) => {
    assert.equal((await safe(probe.limited()))[0]?.code, 'DEADLINE_EXCEEDED')
  },
  'a signal that aborts after the result has no effect': async ({ probe }) => {
    const controller = new AbortController()
    assert.equal(await probe.add({ a: 1 }, { signal: controller.signal, timeout: 60_000 }), 2)
    controller.abort()
  },
  'stopping a service fails its pending calls and disposes it': async ({ probe, record, connected }) => {
    const call = safe(probe.hang('six', { timeout: 60_000 }))
    await record.until('six began')
    await connected.stop()
    await record.until('six aborted: SERVICE_UNAVAILABLE')
    await record.until('disposed')
    const code = (await call)[0]?.code
    assert.ok(code === 'SERVICE_UNAVAILABLE' || code === 'SERVICE_HANGUP', code)
  },
  'a stopped service accepts no call': async ({ probe, connected }) => {
    await probe.add({ a: 1 })
    await connected.stop()
    assert.equal((await safe(probe.add({ a: 1 })))[0]?.code, 'SERVICE_UNAVAILABLE')
  },
}
