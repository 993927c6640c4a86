import { Readable } from 'node:stream'
import type { EdgeStream } from '../../../contract/http/answering.ts'
import { aliveInterval } from '../../../contract/http/events.ts'
import { settled, textOf, type First } from '../../../contract/http/stream-body.ts'

/** A stream as the payload of a reply: the next value is asked for when there is room for it. `first` has been asked for already. */
export function readableOf(answer: EdgeStream, first: Promise<First>): Readable {
  const { stream, format } = answer
  let asked: Promise<First> | undefined = first
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
    // Values that are at hand go out in one turn: one for each turn would be one system call each.
    read: () => void (isPumping || pump()),
    destroy(error, done) {
      clearInterval(alive)
      void stream.return()
      done(error)
    },
  })
  const alive = setInterval(() => body.push(format.alive), aliveInterval).unref()
  return body
}
