import { timingSafeEqual } from 'node:crypto'
import { protocolVersion } from './frames.ts'
import { type Packet, ProtocolError } from './pipe.ts'

/** Who speaks, and that it belongs to the app. */
export interface Hello {
  readonly worker: number
  /** The app's, of this start: no other program is let in. */
  readonly secret: string
}

/** Stands first, so that whatever else connects here is known for a stranger by its first bytes. */
const name = 'busbar'

export function helloPacket({ worker, secret }: Hello): Packet {
  return { text: JSON.stringify([name, protocolVersion, worker, secret]), bytes: [] }
}

/** The number of the worker that says hello. Throws {@link ProtocolError} for strangers, and for other versions. */
export function readHello({ text }: Packet, secret: string): number {
  const hello = parse(text)
  if (!Array.isArray(hello) || hello[0] !== name) throw new ProtocolError('is no worker of an app')
  const [, version, worker, given] = hello as unknown[]
  if (version !== protocolVersion)
    throw new ProtocolError(`speaks version ${String(version)} of the protocol, and not ${protocolVersion}`)
  if (typeof given !== 'string' || !isSame(given, secret)) throw new ProtocolError('belongs to another app')
  if (!Number.isSafeInteger(worker)) throw new ProtocolError('does not say which worker it is')
  return worker as number
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
