import type { BusbarError } from '../errors.ts'
import { encodeValue, type StreamResponse } from './responder.ts'
import { keepAliveInterval, firstValueTimeout, streamHeaders } from './stream-format.ts'

/** The settled result of a stream's `next()`. */
export type FirstStep = PromiseSettledResult<IteratorResult<unknown, undefined>>

/** A stream whose response can start, or the error to answer with instead. */
export type OpenedStream =
  | { readonly error: BusbarError<string> }
  | { readonly headers: Readonly<Record<string, string>>; readonly first: Promise<FirstStep> }

/**
 * An error before the first value becomes a response of its own if it occurs soon enough. A later
 * error is the last entry of the stream.
 */
export async function openStream({ stream, format }: StreamResponse): Promise<OpenedStream> {
  const first = settled(stream.next())
  const early = await within(first, firstValueTimeout)
  if (early?.status === 'rejected') return { error: early.reason as BusbarError<string> }
  return { headers: { ...stream.call.headers, ...streamHeaders(format) }, first }
}

/** Undefined if `first` takes longer. */
async function within(first: Promise<FirstStep>, timeout: number): Promise<FirstStep | undefined> {
  const late = Promise.withResolvers<undefined>()
  const timer = setTimeout(() => late.resolve(undefined), timeout)
  try {
    return await Promise.race([first, late.promise])
  } finally {
    clearTimeout(timer)
  }
}

/**
 * A stream as a response body. Its reader applies backpressure: the next value is requested when
 * there is room. Cancelling the body leaves the stream. `first` is the result of the first
 * `next()`, which is already under way.
 */
export function streamBody(answer: StreamResponse, first: Promise<FirstStep>): ReadableStream<Uint8Array> {
  const { stream, format } = answer
  const encoder = new TextEncoder()
  let next: Promise<FirstStep> | undefined = first
  let alive: ReturnType<typeof setInterval> | undefined
  const finish = (): void => {
    clearInterval(alive)
    void stream.return()
  }
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        alive ??= unreferenced(
          setInterval(() => controller.enqueue(encoder.encode(format.keepAlive)), keepAliveInterval),
        )
        const step = await (next ?? settled(stream.next()))
        next = undefined
        const text = textOf(answer, step)
        controller.enqueue(encoder.encode(text.text))
        if (!text.isLast) return
        finish()
        controller.close()
      },
      cancel: finish,
    },
    { highWaterMark: 0 },
  )
}

/** In Node a timer keeps the process alive; in browsers timers are numbers. */
function unreferenced<T>(timer: T): T {
  ;(timer as { unref?(): void }).unref?.()
  return timer
}

export async function settled<T>(promise: Promise<T>): Promise<PromiseSettledResult<T>> {
  const [result] = await Promise.allSettled([promise])
  return result
}

export function textOf(answer: StreamResponse, step: FirstStep): { text: string; isLast: boolean } {
  const { format } = answer
  if (step.status === 'rejected') return { text: format.error(step.reason as BusbarError), isLast: true }
  if (step.value.done === true) return { text: format.end, isLast: true }
  try {
    return { text: encodeValue(answer, step.value.value), isLast: false }
  } catch (error) {
    return { text: format.error(error as BusbarError), isLast: true }
  }
}
