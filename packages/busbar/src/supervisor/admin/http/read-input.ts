import type { IncomingMessage } from 'node:http'
import type * as z from 'zod'
import { BusbarError, type InputIssue } from '../../../contract/errors.ts'
import type { Operation } from '../operations/operation.ts'

/** Bytes. The largest inputs are the bodies of injected requests. */
const maxBody = 8 * 1024 ** 2

/** Reads and validates the parameters of a request. `inPath`: those of its path. Rejects. */
export async function readInput(
  { name, method, input }: Operation,
  inPath: Readonly<Record<string, string>>,
  req: IncomingMessage,
): Promise<z.output<Operation['input']>> {
  const others = method === 'GET' ? queryOf(req.url!) : await bodyOf(req)
  const result = input.safeParse({ ...others, ...inPath })
  if (result.success) return result.data
  const issues = result.error.issues.map(({ path, message }): InputIssue => ({ path: path as string[], message }))
  const texts = issues.map(({ path, message }) => (path.length === 0 ? message : `${path.join('.')}: ${message}`))
  throw new BusbarError('INPUT_INVALID', { message: `${name} got ${texts.join('; ')}`, data: { issues } })
}

function queryOf(url: string): Record<string, string> {
  return Object.fromEntries(new URL(url, 'http://admin').searchParams)
}

async function bodyOf(req: IncomingMessage): Promise<object> {
  const chunks: Buffer[] = []
  let size = 0
  // Reads on when there is too much: a client that still writes does not see an answer before its
  // end. The server's `requestTimeout` limits that.
  for await (const chunk of req as AsyncIterable<Buffer>) if ((size += chunk.length) <= maxBody) chunks.push(chunk)
  if (size > maxBody) throw new BusbarError('BODY_TOO_LARGE', { message: `the body is larger than ${maxBody} bytes` })
  return size === 0 ? {} : parseObject(Buffer.concat(chunks).toString())
}

function parseObject(text: string): object {
  try {
    const value = JSON.parse(text) as unknown
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
  } catch {
    // The same answer as for any other value.
  }
  throw new BusbarError('REQUEST_MALFORMED', { message: 'the body is not a JSON object' })
}
