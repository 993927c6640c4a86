import type { BusbarError } from '../errors.ts'
import { encodeValue, type EdgeStream } from './answering.ts'
import { aliveInterval, headPatience, streamHeaders } from './events.ts'

/** What a stream's `next()` came to. */
export type First = PromiseSettledResult<IteratorResult<unknown, undefined>>

/** A stream whose answer can be begun with what its first `next()` comes to, or why there is nothing to begin. */
export type OpenedStream =
  | { readonly error: BusbarError<string> }
  | { readonly headers: Readonly<Record<string, string>>; readonly first: Promise<First> }

/** A failure before the first value is an answer of its own, if it comes soon enough; a later one is the last thing in the stream. */
export async function openStream({ stream, format }: EdgeStream): Promise<OpenedStream> {
  const first = settled(stream.next())
  const early = await within(first, headPatience)
  if (early?.status === 'rejected') return { error: early.reason as BusbarError<string> }
  return { headers: { ...stream.call.headers, ...streamHeaders(format) }, first }
}

/** Undefined where it takes longer. */
async function within(first: Promise<First>, patience: number): Promise<First | undefined> {
  const late = Promise.withResolvers<undefined>()
  const timer = setTimeout(() => late.resolve(undefined), patience)
  try {
    return await Promise.race([first, late.promise])
  } finally {
    clearTimeout(timer)
  }
}

/**
 * A stream as the body of a response, whose reader sets the pace: the next value is asked for when there is room for it.
 * Cancelling the body leaves the stream. `first` has been asked for already.
 */
export function streamBody(answer: EdgeStream, first: Promise<First>): ReadableStream<Uint8Array> {
  const { stream, format } = answer
  const encoder = new TextEncoder()
  let next: Promise<First> | undefined = first
  let alive: ReturnType<typeof setInterval> | undefined
  const finish = (): void => {
    clearInterval(alive)
    void stream.return()
  }
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        alive ??= unreferenced(setInterval(() => controller.enqueue(encoder.encode(format.alive)), aliveInterval))
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

/** In Node a timer keeps the process; browsers have numbers, which keep nothing. */
function unreferenced<T>(timer: T): T {
  ;(timer as { unref?(): void }).unref?.()
  return timer
}

export async function settled<T>(promise: Promise<T>): Promise<PromiseSettledResult<T>> {
  const [result] = await Promise.allSettled([promise])
  return result
}

export function textOf(answer: EdgeStream, step: First): { text: string; isLast: boolean } {
  const { format } = answer
  if (step.status === 'rejected') return { text: format.error(step.reason as BusbarError), isLast: true }
  if (step.value.done === true) return { text: format.end, isLast: true }
  try {
    return { text: encodeValue(answer, step.value.value), isLast: false }
  } catch (error) {
    return { text: format.error(error as BusbarError), isLast: true }
  }
}
