import { abortedBy } from '../../call/end-reasons.ts'
import { BusbarError } from '../../errors.ts'
import { frame } from '../../grpc/framing.ts'
import type { AnswerReader } from './answer-reader.ts'
import type { Http2Stream } from './node-modules.ts'

type Values = AsyncIterator<unknown> | Iterator<unknown>

/** Sends the values of a caller, as fast as the service reads them, until the call is over. */
export async function sendValues(
  values: Values,
  stream: Http2Stream,
  encode: (value: unknown) => Uint8Array,
  reader: AnswerReader,
): Promise<void> {
  try {
    for (let step = await values.next(); step.done !== true; step = await values.next()) {
      if (stream.closed) return await leave(values)
      if (!stream.write(frame(encode(step.value)))) await drained(stream)
    }
    if (!stream.closed) stream.end()
  } catch (error) {
    // A caller whose iterable throws has cancelled the call.
    reader.fail(BusbarError.is(error) ? error : abortedBy(reader.callee))
    await leave(values)
  }
}

/** Calls `return()` of the iterable, and ignores its errors. */
async function leave(values: Values): Promise<void> {
  try {
    await values.return?.()
  } catch {
    // The call is over.
  }
}

async function drained(stream: Http2Stream): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  stream.once('drain', resolve)
  stream.once('close', resolve)
  await promise
}
