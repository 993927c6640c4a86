/** The first packets of a link between two apps. */
import { protocolVersion } from '../links/frames/frame-encoder.ts'
import { type Packet, ProtocolError } from '../links/packet-transport.ts'
import type { Greeting } from '../transports/socket.ts'

/** A service that the peer may call. */
export interface ExportedService {
  readonly name: string
  /** It implements a contract. */
  readonly typed: boolean
}

/** What the app that accepts a link tells the one that has dialled. */
export interface HostHello {
  /** The name of the app, for messages: only a certificate proves it. */
  readonly app: string
  /** Of the app. '' if it has none. */
  readonly version: string
  readonly services: readonly ExportedService[]
}

/** Differs from the hello of workers, so that neither is taken for the other. */
const name = 'busbar-app'

/** Bytes. An app may export many services. */
const maxHostHello = 1024 * 1024

/** Longer names of apps are cut. */
const maxName = 200

/** `app`: the name of this app. */
export function callerGreeting(app: string): Greeting<HostHello> {
  const own = packetOf({ app, version: '', services: [] })
  return { own, refusal: own, read: readHostHello, limit: maxHostHello }
}

/** `hello`: with the services that this peer may call. */
export function exporterGreeting(hello: HostHello): Greeting<string> {
  return {
    own: packetOf(hello),
    refusal: packetOf({ app: '', version: '', services: [] }),
    read: (first) => readHostHello(first).app,
  }
}

function packetOf({ app, version, services }: HostHello): Packet {
  const list = services.map((service) => [service.name, service.typed ? 1 : 0])
  return {
    text: JSON.stringify([name, protocolVersion, app.slice(0, maxName), list, version.slice(0, maxName)]),
    bytes: [],
  }
}

function readHostHello({ text }: Packet): HostHello {
  const hello = parse(text)
  if (!Array.isArray(hello) || hello[0] !== name)
    throw new ProtocolError('is not an app of Busbar that exports services')
  const [, protocol, app, services, version] = hello as unknown[]
  if (protocol !== protocolVersion)
    throw new ProtocolError(`speaks version ${String(protocol)} of the protocol instead of ${protocolVersion}`)
  if (typeof app !== 'string' || !Array.isArray(services)) throw new ProtocolError('sent a malformed hello')
  const known = typeof version === 'string' ? version.slice(0, maxName) : ''
  return { app: app.slice(0, maxName), version: known, services: (services as unknown[]).map(readService) }
}

function readService(entry: unknown): ExportedService {
  if (!Array.isArray(entry) || typeof entry[0] !== 'string') throw new ProtocolError('sent a malformed hello')
  return { name: entry[0], typed: entry[1] === 1 }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
