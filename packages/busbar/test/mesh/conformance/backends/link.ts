import { elsewhere } from '../../../support/linked.ts'
import { byByteStream } from './byte-stream.ts'
import { byExchange } from './exchange.ts'

/** The instance is at the other end of a link, whose packets stay in this thread. */
export const exchangeLink = byExchange('exchange over a link', (instance) => elsewhere(instance))
export const byteLink = byByteStream('byte stream over a link', true)
