import { request, type IncomingMessage } from 'node:http'
import type { MeshContext } from '../../mesh/mesh-context.ts'
import { openConnection } from '../../mesh/sockets/connect.ts'

/** Bytes. Real documents are far smaller, and a worker can hold this much in memory. */
const maxSize = 16 * 1024 * 1024
/** Milliseconds. A program that generates its document for each request may be slow. */
const fetchTimeout = 10_000

/**
 * Fetches JSON from a service over the mesh. Rejects with an Error that says why there is no
 * document.
 */
export async function fetchDocument(mesh: MeshContext, service: string, path: string): Promise<unknown> {
  const { status, text } = await get(mesh, service, path)
  if (status !== 200) throw new Error(`${path} answered ${status}`)
  try {
    return JSON.parse(text) as unknown
  } catch {
    throw new Error(`${path} is not JSON`)
  }
}

function get(mesh: MeshContext, service: string, path: string): Promise<{ status: number; text: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; text: string }>()
  const outgoing = request({
    createConnection: () => openConnection(mesh, service, 80),
    path,
    headers: { host: `${service}.internal`, accept: 'application/json', connection: 'close' },
    signal: AbortSignal.timeout(fetchTimeout),
  })
  outgoing.on('response', (incoming) => {
    textOf(incoming).then((text) => resolve({ status: incoming.statusCode!, text }), reject)
  })
  outgoing.on('error', reject)
  outgoing.end()
  return promise
}

async function textOf(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let left = maxSize
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    if ((left -= chunk.length) < 0) throw new Error(`it is larger than ${maxSize} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}
