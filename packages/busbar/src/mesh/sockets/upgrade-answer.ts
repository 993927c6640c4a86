import type { Duplex } from 'node:stream'
import { noStatus } from '../../shared/metrics/edge-table.ts'
import { encodingOf, observeCalls, raiseMaxListeners } from './observe-calls.ts'

/** The status of an upgrade whose first bytes are no head of HTTP/1. */
const upgraded = 101

/**
 * Calls `answered` once: with the final status that a program writes to the socket of an upgrade,
 * or with {@link noStatus} if the socket closes before that is written. Node gives the program no
 * response object for an upgrade, so what it writes tells whether it accepts.
 */
export function onUpgradeAnswer(socket: Duplex, answered: (status: number) => void): void {
  const heads = new ResponseHeads()
  let isAnswered = false
  const answer = (status: number | undefined): void => {
    if (isAnswered || status === undefined) return
    isAnswered = true
    stops.forEach((stop) => stop())
    answered(status)
  }
  const close = (): void => answer(noStatus)
  const written = (chunk: unknown, encoding: unknown): void => answer(heads.add(chunk, encoding))
  const stops = [
    observeCalls(socket, 'write', written),
    observeCalls(socket, 'end', written),
    () => {
      socket.off('close', close)
      raiseMaxListeners(socket, -1)
    },
  ]
  socket.once('close', close)
  raiseMaxListeners(socket, 1)
}

/** Characters of heads in which a final status is looked for. */
const longestHeads = 64 * 1024

const statusLine = /^HTTP\/1\.[01] ([1-9]\d\d)(?=[ \r\n])/
const anyLine = 'HTTP/1.1 200 '

/** Finds the final status in the heads of responses, which may come in parts. */
class ResponseHeads {
  #text = ''

  /** Undefined: it is still to come. */
  add(chunk: unknown, encoding: unknown): number | undefined {
    this.#text += textOf(chunk, encoding)
    for (;;) {
      const status = statusLine.exec(this.#text)?.[1]
      if (status === undefined) return this.#isStart ? undefined : upgraded
      // Interim responses come before the final one (RFC 9110, 15.2).
      if (!status.startsWith('1') || Number(status) === upgraded) return Number(status)
      const end = this.#text.indexOf('\r\n\r\n')
      if (end < 0) return this.#text.length < longestHeads ? undefined : upgraded
      this.#text = this.#text.slice(end + 4)
    }
  }

  /** The rest may complete a status line. */
  get #isStart(): boolean {
    return this.#text.length < anyLine.length && statusLine.test(this.#text + anyLine.slice(this.#text.length))
  }
}

/** '' for what a socket does not write: a callback, and what it throws for. */
function textOf(chunk: unknown, encoding: unknown): string {
  if (ArrayBuffer.isView(chunk))
    return Buffer.from(chunk.buffer, chunk.byteOffset, Math.min(chunk.byteLength, longestHeads)).toString('latin1')
  if (typeof chunk !== 'string') return ''
  return Buffer.from(chunk, encodingOf(encoding)).toString('latin1')
}
