/** The request by which a worker asks a host for a link, and its answer. */
import { leastPayload } from '../../shared/cluster/subjects.ts'
import { ProtocolError } from '../links/packet-transport.ts'

export interface DialMessage {
  /** As over a socket, see `hosts/host-hello.ts`. */
  readonly hello: string
  /** The sender's end of the link. '' for a peer that is refused. */
  readonly end: string
  /** Bytes of one message that the sender's server allows. */
  readonly maxMessage: number
}

export function encodeDial({ hello, end, maxMessage }: DialMessage): string {
  return JSON.stringify([hello, end, maxMessage])
}

/** Throws {@link ProtocolError} for anything else. */
export function readDial(text: string): DialMessage {
  const list = parse(text)
  if (!Array.isArray(list)) throw new ProtocolError('sent a malformed hello')
  const [hello, end, maxMessage] = list as unknown[]
  // The end is part of a subject: no other subject may be named.
  const isDial = typeof hello === 'string' && typeof end === 'string' && (end === '' || isEnd(end))
  if (!isDial || !Number.isSafeInteger(maxMessage)) throw new ProtocolError('sent a malformed hello')
  if ((maxMessage as number) < leastPayload)
    throw new ProtocolError(
      `uses a NATS server whose max_payload is ${String(maxMessage)} bytes, and a link needs at least ${leastPayload}`,
    )
  return { hello, end, maxMessage: maxMessage as number }
}

/** True for the address of an end of a link. */
export function isEnd(text: string): boolean {
  return /^[0-9a-f]{24}\.\d{1,15}$/.test(text)
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
