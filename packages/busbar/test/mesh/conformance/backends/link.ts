import { linkedEndpoint } from '../../../support/mesh/linked-endpoint.ts'
import { byByteStream } from './byte-stream.ts'
import { byExchange } from './exchange.ts'

/** The instance is at the other end of a link within this thread. */
export const exchangeLink = byExchange('exchange over a link', (instance) => linkedEndpoint(instance))
export const byteLink = byByteStream('byte stream over a link', true)
