import { linkedEndpoint } from '../../../support/mesh/linked-endpoint.ts'
import { byByteStream } from './byte-stream.ts'
import { byExchange } from './exchange.ts'

/** The instance is at the other end of a link within this thread. */
export const exchangeLink = byExchange('exchange over a link', (instance) => linkedEndpoint(instance))
export const byteLink = byByteStream('byte stream over a link', { overLink: true })

/** The client has a connection, and the link carries its requests as values where it can. */
export const hostLink = byByteStream('connection to another app', { toHost: true })
