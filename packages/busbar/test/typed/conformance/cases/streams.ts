import assert from 'node:assert/strict'
import { safe } from '../../../../src/contract/client-entry.ts'
import type { BusbarError } from '../../../../src/contract/errors.ts'
import type { Cases } from '../case.ts'

export const streams: Cases = {
  'a stream gives its values in their order, and ends': async ({ probe, diary }) => {
    assert.deepEqual(await collect(probe.count({ to: 5 })), [1, 2, 3, 4, 5])
    assert.ok(diary.has('count left'))
  },
  'a stream of nothing ends': async ({ probe }) => {
    assert.deepEqual(await collect(probe.count({ to: 0 })), [])
  },
  'a stream carries what calls carry': async ({ probe }) => {
    const sent = [1, undefined, null, 'a\nb', new Date(0), { $end: true }, { $error: 1 }, 5n]
    assert.deepEqual(await collect(probe.values(sent)), sent)
  },
  'an input that the schema refuses fails the first value': async ({ probe }) => {
    await assert.rejects(collect(probe.count({ to: 'x' } as never)), { code: 'INPUT_INVALID' })
  },
  'a fault before the first value fails the first value, and stays inside': async ({ probe, log }) => {
    const error = await failure(probe.failing('before'))
    assert.equal(error.code, 'INTERNAL')
    assert.doesNotMatch(error.message, /secret/)
    assert.match(log.lines.join(), /secret/)
  },
  'a declared error comes behind the values before it': async ({ probe }) => {
    const seen: number[] = []
    const error = await failure(probe.failing('declared'), seen)
    assert.deepEqual(seen, [1])
    assert.equal(error.code, 'DRY')
    assert.deepEqual(error.data, { after: 1 })
  },
  'a fault, or a value that the schema refuses, ends the stream': async ({ probe }) => {
    for (const kind of ['bug', 'output'] as const) {
      const seen: number[] = []
      assert.equal((await failure(probe.failing(kind), seen)).code, 'INTERNAL')
      assert.deepEqual(seen, [1])
    }
  },
  'leaving the loop ends the method': async ({ probe, diary }) => {
    for await (const { at } of probe.endless('left')) if (at === 3) break
    await diary.until('left left')
  },
  'a reader that does not read stops the method': async ({ probe, diary }) => {
    const stream = probe.endless('slow')
    await stream.next()
    // The buffers between the two fill up, and then nothing moves any more.
    let before = -1
    while (before !== diary.made) {
      before = diary.made
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    assert.ok(before < 5_000, `${before} values were made for nobody`)
    await stream.return?.()
    await diary.until('slow left')
  },
  'leaving a stream whose method hangs does not hang': async ({ probe, diary }) => {
    const stream = probe.hanging('hung')
    assert.deepEqual(await stream.next(), { done: false, value: 1 })
    const pending = stream.next()
    await stream.return?.()
    assert.deepEqual(await pending, { done: true, value: undefined })
    await diary.until('hung aborted')
    assert.deepEqual(await stream.next(), { done: true, value: undefined })
  },
  'a stream that is given up fails': async ({ probe, diary }) => {
    const giveUp = new AbortController()
    const stream = probe.hanging('given up', { signal: giveUp.signal })
    await stream.next()
    const pending = safe(stream.next())
    giveUp.abort()
    assert.equal((await pending)[0]?.code, 'CALL_ABORTED')
    await diary.until('given up aborted')
  },
  'a stream has a time limit as a whole': async ({ probe }) => {
    assert.equal((await failure(probe.hanging('limited', { timeout: 40 }))).code, 'DEADLINE_EXCEEDED')
  },
  'a stream that nobody begins to read calls nothing': async ({ probe, diary }) => {
    const stream = probe.endless('unread')
    await stream.return?.()
    assert.deepEqual(await stream.next(), { done: true, value: undefined })
    assert.ok(!diary.has('unread left'))
  },
  'a stream whose service stops fails': async ({ probe, connected }) => {
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
