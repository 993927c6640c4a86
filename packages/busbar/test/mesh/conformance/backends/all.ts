import { isOn } from '../../../support/mesh/accelerators.ts'
import type { Backend } from '../backend.ts'
import { byteStream } from './byte-stream.ts'
import { exchange } from './exchange.ts'
import { byteLink, exchangeLink, hostLink } from './link.ts'

/** Without accelerators a connection is a Unix socket, and there is no other way. */
export const backends: readonly Backend[] =
  isOn('stream') && isOn('exchange') ? [exchange, exchangeLink, byteStream, byteLink, hostLink] : [byteStream]
