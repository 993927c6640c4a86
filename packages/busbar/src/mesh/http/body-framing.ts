import type { ResponseHead } from './exchange.ts'

/** How a client finds the end of a response's body. */
export type BodyFraming =
  /** Zero also for responses that have no body. */
  | { readonly kind: 'length'; readonly length: number }
  | { readonly kind: 'chunked' }
  /** The body ends with the connection. */
  | { readonly kind: 'close' }

const none: BodyFraming = { kind: 'length', length: 0 }
const chunked: BodyFraming = { kind: 'chunked' }
const close: BodyFraming = { kind: 'close' }
const digits = /^\d+$/

/**
 * Reads it from the head, as a client does (RFC 9112, 6.3). Undefined if no client accepts such a
 * head: a length that is no number, repeated, or beside a transfer coding. `method` is the
 * request's, by default any but HEAD.
 */
export function bodyFramingOf({ status, headers }: ResponseHead, method?: string): BodyFraming | undefined {
  const { 'content-length': length, 'transfer-encoding': coding } = headers
  if (length !== undefined && (typeof length !== 'string' || !isLength(length) || coding !== undefined))
    return undefined
  if (method === 'HEAD' || status === 204 || status === 304) return none
  if (length !== undefined) return { kind: 'length', length: Number(length) }
  return coding !== undefined && isChunked(coding) ? chunked : close
}

function isLength(text: string): boolean {
  return digits.test(text) && Number.isSafeInteger(Number(text))
}

/** Of several codings, only the last one can delimit the body. */
export function isChunked(coding: string | string[]): boolean {
  return /(?:^|,)\s*chunked\s*$/i.test([coding].flat().at(-1)!)
}
