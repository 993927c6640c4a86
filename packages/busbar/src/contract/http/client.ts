import { BusbarError } from '../errors.ts'
import type { Transport } from '../transport.ts'

export interface HttpOptions {
  /** Instead of the global one. */
  readonly fetch?: typeof fetch
}

export function httpTransport(_base: string | URL, _options: HttpOptions): Transport {
  throw new BusbarError('INTERNAL', { message: 'not yet' })
}
