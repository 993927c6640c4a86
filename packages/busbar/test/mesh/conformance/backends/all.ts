import { isOn } from '../../../support/accelerated.ts'
import type { Backend } from '../backend.ts'
import { byteStream } from './byte-stream.ts'
import { exchange } from './exchange.ts'
import { byteLink, exchangeLink } from './link.ts'

/** Without the accelerators a byte stream is a Unix socket, and there is no other way. */
export const backends: readonly Backend[] =
  isOn('stream') && isOn('exchange') ? [exchange, exchangeLink, byteStream, byteLink] : [byteStream]
