import { Agent, request, type Dispatcher } from 'undici'
import { certificate } from '../certificate.js'

/** The services that this one calls, by name and by port. */
const peers = [
  peer('fastify2', 3101, 3201),
  peer('node3', 3102, 3202),
  peer('type1', 3103, 3203),
  peer('type4', 3104, 3204),
]

/** A service failed to answer correctly. */
export class PeerError extends Error {
  readonly service: string

  constructor(service: string, reason: string) {
    super(`${service} ${reason}`)
    this.service = service
  }
}

const connections = 16
const tcp = new Agent({ connections })
const tls = new Agent({ connections, ...(certificate && { connect: { ca: certificate.cert } }) })

/** Over the mesh. Without Busbar these names do not exist, and the call fails. */
export const askByName = (): Promise<unknown> => askAll((peer) => `http://${peer.name}.internal/live`)
export const askOverTcp = (): Promise<unknown> => askAll((peer) => `http://127.0.0.1:${peer.port}/live`, tcp)
/** Verifies that the service has the shared certificate. */
export const askOverTls = (): Promise<unknown> => askAll((peer) => `https://127.0.0.1:${peer.tlsPort}/live`, tls)

interface Peer {
  readonly name: string
  readonly port: number
  readonly tlsPort: number
}

/** `TYPE1_PORT` and `TYPE1_TLS_PORT` override the ports. */
function peer(name: string, port: number, tlsPort: number): Peer {
  const { [`${name.toUpperCase()}_PORT`]: own, [`${name.toUpperCase()}_TLS_PORT`]: ownTls } = process.env
  return { name, port: Number(own ?? port), tlsPort: Number(ownTls ?? tlsPort) }
}

/** Calls all in parallel. Rejects with the first {@link PeerError}. */
function askAll(urlOf: (peer: Peer) => string, dispatcher?: Dispatcher): Promise<unknown> {
  return Promise.all(peers.map((peer) => ask(peer.name, urlOf(peer), dispatcher)))
}

/** An answer must be 200 and complete: `text()` fails if the connection ends before the body. */
async function ask(service: string, url: string, dispatcher?: Dispatcher): Promise<void> {
  try {
    const { statusCode, body } = await request(url, dispatcher && { dispatcher })
    const text = await body.text()
    if (statusCode !== 200) throw new PeerError(service, `answered ${statusCode}`)
    const { service: name } = JSON.parse(text) as { service?: string }
    if (name !== service) throw new PeerError(service, `was expected and ${name} answered`)
  } catch (error) {
    throw error instanceof PeerError ? error : new PeerError(service, `failed: ${(error as Error).message}`)
  }
}
