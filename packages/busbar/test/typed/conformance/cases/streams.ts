import assert from 'node:assert/strict'
import { safe } from '../../../../src/contract/client-entry.ts'
import type { BusbarError } from '../../../../src/contract/errors.ts'
import type { Cases } from '../case.ts'

export const streams: Cases = {
  'a stream delivers its values in order, and ends': async ({ probe, record }) => {
    assert.deepEqual(await collect(probe.count({ to: 5 })), [1, 2, 3, 4, 5])
    assert.ok(record.has('count left'))
  },
  'an empty stream ends': async ({ probe }) => {
    assert.deepEqual(await collect(probe.count({ to: 0 })), [])
  },
  'a stream supports the values of calls': async ({ probe }) => {
    const sent = [1, undefined, null, 'a\nb', new Date(0), { $end: true }, { $error: 1 }, 5n]
    assert.deepEqual(await collect(probe.values(sent)), sent)
  },
  'with an invalid input, reading the first value fails': async ({ probe }) => {
    await assert.rejects(collect(probe.count({ to: 'x' } as never)), { code: 'INPUT_INVALID' })
  },
  'an exception before the first value fails its read, and only the log has the details': async ({ probe, log }) => {
    const error = await failure(probe.failing('before'))
    assert.equal(error.code, 'INTERNAL')
    assert.doesNotMatch(error.message, /secret/)
    assert.match(log.lines.join(), /secret/)
  },
  'a declared error follows the values before it': async ({ probe }) => {
    const seen: number[] = []
    const error = await failure(probe.failing('declared'), seen)
    assert.deepEqual(seen, [1])
    assert.equal(error.code, 'DRY')
    assert.deepEqual(error.data, { after: 1 })
  },
  'an exception or an invalid value ends the stream with an INTERNAL error': async ({ probe }) => {
    for (const kind of ['bug', 'output'] as const) {
      const seen: number[] = []
      assert.equal((await failure(probe.failing(kind), seen)).code, 'INTERNAL')
      assert.deepEqual(seen, [1])
    }
  },
  'leaving the loop ends the method': async ({ probe, record }) => {
    for await (const { at } of probe.endless('left')) if (at === 3) break
    await record.until('left left')
  },
  'a reader that pauses pauses the method': async ({ probe, record }) => {
    const stream = probe.endless('slow')
    await stream.next()
    // Until the buffers in between are full.
    let before = -1
    while (before !== record.made) {
      before = record.made
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    assert.ok(before < 5_000, `${before} values were produced without a reader`)
    await stream.return?.()
    await record.until('slow left')
  },
  'leaving a stream does not wait for a method that hangs': async ({ probe, record }) => {
    const stream = probe.hanging('hung')
    assert.deepEqual(await stream.next(), { done: false, value: 1 })
    const pending = stream.next()
    await stream.return?.()
    assert.deepEqual(await pending, { done: true, value: undefined })
    await record.until('hung aborted')
    assert.deepEqual(await stream.next(), { done: true, value: undefined })
  },
  'a cancelled stream fails': async ({ probe, record }) => {
    const controller = new AbortController()
    const stream = probe.hanging('cancelled', { signal: controller.signal })
    await stream.next()
    const pending = safe(stream.next())
    controller.abort()
    assert.equal((await pending)[0]?.code, 'CALL_ABORTED')
    await record.until('cancelled aborted')
  },
  'a timeout applies to the whole stream': async ({ probe }) => {
    assert.equal((await failure(probe.hanging('limited', { timeout: 40 }))).code, 'DEADLINE_EXCEEDED')
  },
  'an unread stream does not call its method': async ({ probe, record }) => {
    const stream = probe.endless('unread')
    await stream.return?.()
    assert.deepEqual(await stream.next(), { done: true, value: undefined })
    assert.ok(!record.has('unread left'))
  },
  'stopping a service fails its streams': async ({ probe, connected }) => {
    const stream = probe.hanging('stopped')
    await stream.next()
    const pending = safe(stream.next())
    await connected.stop()
    const code = (await pending)[0]?.code
    assert.ok(code === 'SERVICE_UNAVAILABLE' || code === 'SERVICE_HANGUP', code)
  },
}

async function collect(stream: AsyncIterable<unknown>): Promise<unknown[]> {
  const seen: unknown[] = []
  for await (const value of stream) seen.push(value)
  return seen
}

async function failure(stream: AsyncIterable<number>, seen: number[] = []): Promise<BusbarError<string>> {
  try {
    for await (const value of stream) seen.push(value)
  } catch (error) {
    return error as BusbarError<string>
  }
  throw new Error('the stream did not fail')
}
