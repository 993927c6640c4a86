/** Request/reply of the NATS client, a subject for each service. */
import { loadPeerPackage } from '../../peer-package.ts'
import type { Call } from '../clients.ts'
import { live, type Content } from './live.ts'

interface Message {
  json(): unknown
  respond(data: string): boolean
}

interface Connection {
  subscribe(subject: string, options: { callback(error: Error | null, message: Message): void }): unknown
  request(subject: string, data: string, options: { timeout: number }): Promise<Message>
}

const timeout = 5000

export async function serveByNats(names: readonly string[], servers: string): Promise<void> {
  const connection = await connect(servers)
  for (const name of names)
    connection.subscribe(name, {
      callback: (_, message) => void message.respond(JSON.stringify(live())),
    })
}

export async function callByNats(names: readonly string[], servers: string): Promise<Call[]> {
  const connection = await connect(servers)
  return names.map((name) => async () => {
    const answer = (await connection.request(name, '', { timeout })).json() as Content
    return answer.content.length > 0
  })
}

function connect(servers: string): Promise<Connection> {
  const client = loadPeerPackage('@nats-io/transport-node') as {
    connect(options: { servers: string }): Promise<Connection>
  }
  return client.connect({ servers })
}
