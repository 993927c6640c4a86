import type { IncomingMessage, ServerResponse } from 'node:http'
import { BusbarError } from '../../../contract/errors.ts'
import type { Operation, OperationContext } from '../operations/operation.ts'
import { findOperation } from './find-operation.ts'
import { readInput } from './read-input.ts'
import { sendJson, sendProblem, sendStream, sendText } from './send.ts'
import { sendEvents } from './send-events.ts'

export { isPublic } from './find-operation.ts'

export interface AnswerContext extends Omit<OperationContext, 'signal'> {
  /** Aborts when the listener closes. */
  readonly closing: AbortSignal
}

/**
 * Answers one admitted request. `isLocal`: it came over the admin socket, from the app's own user.
 * Never rejects: errors become problem documents.
 */
export async function answer(
  context: AnswerContext,
  isLocal: boolean,
  req: IncomingMessage,
  res: ServerResponse,
): Promise<void> {
  const over = new AbortController()
  const end = (): void => over.abort()
  context.closing.addEventListener('abort', end)
  res.once('close', () => {
    context.closing.removeEventListener('abort', end)
    end()
  })
  try {
    const { operation, inPath } = findOperation(req.method!, req.url!)
    if (operation.localOnly === true && !isLocal) throw notHere(operation)
    const input = await readInput(operation, inPath, req)
    await run(chosen(operation, req), input, { ...context, signal: over.signal }, res)
  } catch (error) {
    // What is under way is aborted then.
    const shown = context.closing.aborted ? ended() : error
    sendProblem(res, shown, {}, context.running.app.secrets)
  }
}

/** With the type that the client wants, if there is a choice. */
function chosen(operation: Operation, { headers: { accept = '' } }: IncomingMessage): Operation {
  if (operation.answers !== 'text' || operation.other === undefined) return operation
  return accepts(accept, operation.other.type.split(';', 1)[0]!) ? { ...operation, ...operation.other } : operation
}

/** If `Accept` names the type, and its weight is not 0 (RFC 9110, 12.4.2). */
function accepts(accept: string, type: string): boolean {
  return accept.split(',').some((range) => {
    const [name, ...parameters] = range.split(';').map((part) => part.trim().toLowerCase())
    return name === type && !parameters.some((one) => /^q *= *0(?:\.0*)?$/.test(one))
  })
}

function ended(): BusbarError {
  return new BusbarError('APP_NOT_RUNNING', { message: 'the app has ended' })
}

function notHere({ name }: Operation): BusbarError {
  return new BusbarError('FORBIDDEN', {
    message: `${name} is allowed on the admin socket only`,
    hint: 'Run the command on the machine of the app, as its user.',
  })
}

async function run(
  operation: Operation,
  input: Readonly<Record<string, unknown>>,
  context: OperationContext,
  res: ServerResponse,
): Promise<void> {
  switch (operation.answers) {
    case 'json':
      return sendJson(res, operation.status ?? 200, await operation.handle(input, context))
    case 'text':
      return sendText(res, 200, operation.type, operation.handle(input, context))
    case 'lines':
      return await sendStream(res, 'application/x-ndjson', operation.handle(input, context))
    case 'events':
      return await sendEvents(res, operation.handle(input, context))
    case 'file':
      return await sendStream(res, 'application/octet-stream', await operation.handle(input, context))
  }
}
