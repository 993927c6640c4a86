import { request, type IncomingMessage } from 'node:http'
import type { HttpMesh } from '../../mesh/mesh.ts'
import { openConnection } from '../../mesh/streams.ts'

/** Bytes: far above what people write, and low enough for a worker to read whole. */
const maxSize = 16 * 1024 * 1024
/** Milliseconds. A program that makes its document anew for each request may take a while. */
const patience = 10_000

/** What a service answers at `path`, over the mesh. Rejects with an Error whose message says why there is no document. */
export async function fetchDocument(mesh: HttpMesh, service: string, path: string): Promise<unknown> {
  const { status, text } = await get(mesh, service, path)
  if (status !== 200) throw new Error(`${path} answered ${status}`)
  try {
    return JSON.parse(text) as unknown
  } catch {
    throw new Error(`${path} is no JSON`)
  }
}

function get(mesh: HttpMesh, service: string, path: string): Promise<{ status: number; text: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; text: string }>()
  const outgoing = request({
    createConnection: () => openConnection(mesh, service, 80),
    path,
    headers: { host: `${service}.internal`, accept: 'application/json', connection: 'close' },
    signal: AbortSignal.timeout(patience),
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
