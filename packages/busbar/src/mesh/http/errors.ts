import { BusbarError } from '../../contract/errors.ts'
import type { ExchangeRequest } from './exchange.ts'

/** What a call fails with. Where undici has words for it, those: programs know how to handle them. */
export function closedByProgram(service: string, { method, path }: ExchangeRequest): Error {
  const cause = new BusbarError('SERVICE_HANGUP', {
    message: `service '${service}' closed the connection before its answer to ${method} ${path} was complete`,
    service,
  })
  return socketError('other side closed', cause)
}

export function socketError(message: string, cause?: unknown): Error {
  return Object.assign(new Error(message, { cause }), { name: 'SocketError', code: 'UND_ERR_SOCKET' })
}
