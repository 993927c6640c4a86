import { Readable } from 'node:stream'
import type { StreamResponse } from '../../../contract/http/responder.ts'
import { keepAliveInterval } from '../../../contract/http/stream-format.ts'
import { settled, textOf, type FirstStep } from '../../../contract/http/stream-body.ts'

/**
 * A stream as the payload of a reply, with backpressure: the next value is requested when there is
 * room. `first` has been requested already.
 */
export function readableOf(answer: StreamResponse, first: Promise<FirstStep>): Readable {
  const { stream, format } = answer
  let asked: Promise<FirstStep> | undefined = first
  let isPumping = false
  const pump = async (): Promise<void> => {
    isPumping = true
    for (let hasRoom = true; hasRoom;) {
      const { text, isLast } = textOf(answer, await (asked ?? settled(stream.next())))
      asked = undefined
      if (body.destroyed) return
      hasRoom = body.push(text) && !isLast
      if (isLast) body.push(null)
    }
    isPumping = false
  }
  const body = new Readable({
    highWaterMark: 1,
    // Sends all available values in one turn. One per turn would cost a system call each.
    read: () => void (isPumping || pump()),
    destroy(error, done) {
      clearInterval(alive)
      void stream.return()
      done(error)
    },
  })
  const alive = setInterval(() => body.push(format.keepAlive), keepAliveInterval).unref()
  return body
}
