import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { BusbarError } from '../../contract/errors.ts'
import type { Gate } from '../balance/gate.ts'
import { exhaustedProblem } from '../problem.ts'
import { answerProblem } from './answer-problem.ts'
import { responseOn } from './metered.ts'

export interface GatedRequest {
  readonly service: string
  readonly request: IncomingMessage
  readonly socket: Socket
  /** Gives it to the server; answers what its parser is to do with the body. */
  readonly next: () => number
}

/** What the parser does with a request that waits: it goes on, and its body waits as that of a slow reader does. */
const readBody = 0

/**
 * Lets a request on a connection through the gate of its service. Requests of one connection come one after the other, since
 * no client sends the next before the answer; one that does has them served in the order they came all the same.
 */
export function passGate(gate: Gate, { service, request, socket, next }: GatedRequest): number {
  const serve = (): number => {
    const result = next()
    const response = responseOn(socket)
    if (response === undefined) gate.leave()
    else response.once('close', () => gate.leave())
    return result
  }
  const refuse = (error: unknown): void => {
    if (!socket.destroyed) answerProblem(exhaustedProblem(BusbarError.from(error), service), request, socket)
  }
  const gone = new AbortController()
  const close = (): void => gone.abort(new BusbarError('CALL_ABORTED', { message: 'the caller hung up', service }))
  try {
    const entering = gate.enter(undefined, gone.signal)
    if (entering === undefined) return serve()
    socket.once('close', close)
    void entering.then(serve, refuse).finally(() => socket.off('close', close))
  } catch (error) {
    refuse(error)
  }
  return readBody
}
