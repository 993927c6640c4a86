import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { BusbarError } from '../../contract/errors.ts'
import type { Begun, Gate } from '../balance/gate.ts'
import type { CallId } from '../../shared/control.ts'
import { exhaustedProblem } from '../problem.ts'
import { answerProblem } from './answer-problem.ts'
import { responseOn } from './metered.ts'

/** The other end of the connection. */
export interface Caller {
  /** The connection, by which the caller knows its requests. */
  readonly call: CallId
  /** It takes no answer any more, and the socket may not have come to it yet. */
  readonly isGone: () => boolean
}

export interface GatedRequest {
  readonly service: string
  readonly request: IncomingMessage
  readonly socket: Socket
  readonly caller: Caller
  /** Gives it to the server. */
  readonly next: () => void
}

/** What the parser does with a request that waits: it goes on, and its body waits as that of a slow reader does. */
const readBody = 0

/**
 * Lets a request on a connection through the gate of its service. Requests of one connection come one after the other, since
 * no client sends the next before the answer; one that does has them served in the order they came all the same.
 */
export function passGate(gate: Gate, { service, request, socket, caller, next }: GatedRequest): number {
  const serve = (): void => {
    if (caller.isGone()) return gate.leave()
    const begun: Begun = { call: caller.call, deadline: undefined }
    const leave = (): void => {
      gate.ends(begun)
      gate.leave()
    }
    gate.begins(begun)
    next()
    const response = responseOn(socket)
    if (response === undefined) leave()
    else response.once('close', leave)
  }
  const refuse = (error: unknown): void => {
    if (!socket.destroyed) answerProblem(exhaustedProblem(BusbarError.from(error), service), request, socket)
  }
  const gone = new AbortController()
  const close = (): void => gone.abort(new BusbarError('CALL_ABORTED', { message: 'the caller hung up', service }))
  socket.once('close', close)
  void gate
    .enter(undefined, gone.signal)
    .then(serve, refuse)
    .finally(() => socket.off('close', close))
  return readBody
}
