import { timingSafeEqual } from 'node:crypto'
import { protocolVersion } from '../links/frames/frame-encoder.ts'
import { type Packet, ProtocolError } from '../links/packet-transport.ts'

/** Identifies a worker, and proves that it belongs to the app. */
export interface Hello {
  readonly worker: number
  /** The app's secret, made at each start. */
  readonly secret: string
  /** The number of the link, which the supervisor gave to both ends. The dialling side says it. */
  readonly link?: number
}

/** What the hello of a worker says. */
export interface WorkerHello {
  readonly worker: number
  /** 0 from the side that was dialled. */
  readonly link: number
}

/** Comes first, so that the first bytes show whether the peer is a worker. */
const name = 'busbar'

export function helloPacket({ worker, secret, link = 0 }: Hello): Packet {
  return { text: JSON.stringify([name, protocolVersion, worker, secret, link]), bytes: [] }
}

/** Throws {@link ProtocolError} for other programs, apps and versions. */
export function readHello({ text }: Packet, secret: string): WorkerHello {
  const hello = parse(text)
  if (!Array.isArray(hello) || hello[0] !== name) throw new ProtocolError('is not a worker of an app')
  const [, version, worker, given, link] = hello as unknown[]
  if (version !== protocolVersion)
    throw new ProtocolError(`speaks version ${String(version)} of the protocol instead of ${protocolVersion}`)
  if (typeof given !== 'string' || !isSame(given, secret)) throw new ProtocolError('belongs to another app')
  if (!Number.isSafeInteger(worker)) throw new ProtocolError('does not say which worker it is')
  return { worker: worker as number, link: Number.isSafeInteger(link) ? (link as number) : 0 }
}

function isSame(given: string, secret: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(secret)]
  return one.length === other.length && timingSafeEqual(one, other)
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
