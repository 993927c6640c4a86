/** The requests of a file, for `busbar try` and `busbar bench`. */
import { readFile } from 'node:fs/promises'
import * as z from 'zod'
import type { TriedRequest } from '../try-app/tried-app.ts'

const maxRequests = 1000

const entry = z.strictObject({
  service: z.string().min(1).optional(),
  method: z
    .string()
    .regex(/^[A-Za-z]+$/)
    .transform((method) => method.toUpperCase())
    .optional(),
  path: z.string().startsWith('/'),
  headers: z.record(z.string(), z.string()).optional(),
  body: z.unknown().optional(),
  weight: z.int().min(1).max(1000).optional(),
})

/**
 * A JSON list of objects, or a line for each request: `[weight] [METHOD] /path`. Empty lines and
 * lines that begin with `#` do not count. Throws an error with a message for the user.
 */
export async function readRequests(file: string): Promise<TriedRequest[]> {
  const text = await readFile(file, 'utf8').catch((error: Error) => {
    throw new Error(`${file} cannot be read: ${error.message}`, { cause: error })
  })
  const found = /^\s*\[/.test(text) ? fromJson(text, file) : fromLines(text, file)
  if (found.length === 0) throw new Error(`${file} has no request`)
  if (found.length > maxRequests)
    throw new Error(`${file} has ${found.length} requests, and ${maxRequests} are allowed`)
  return found
}

function fromJson(text: string, file: string): TriedRequest[] {
  let content: unknown
  try {
    content = JSON.parse(text)
  } catch (error) {
    throw new Error(`${file} is not valid JSON: ${(error as Error).message}`, { cause: error })
  }
  const parsed = z.array(entry).safeParse(content)
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    throw new Error(`${file}: ${issue!.path.join('.')}: ${issue!.message}`)
  }
  return parsed.data.map(({ service, method = 'GET', path, headers = {}, body, weight = 1 }) => {
    const isText = typeof body === 'string'
    const named = Object.entries(headers)
    const hasType = named.some(([name]) => name.toLowerCase() === 'content-type')
    const type = body === undefined || isText || hasType ? [] : [['content-type', 'application/json'] as const]
    return {
      ...(service !== undefined && { service }),
      method,
      path,
      headers: [...named, ...type],
      ...(body !== undefined && { body: isText ? body : JSON.stringify(body) }),
      weight,
    }
  })
}

const line = /^(?:(\d{1,3})\s+)?(?:([A-Za-z]+)\s+)?(\/\S*)$/

function fromLines(text: string, file: string): TriedRequest[] {
  return text.split(/\r?\n/).flatMap((raw, index) => {
    const content = raw.trim()
    if (content === '' || content.startsWith('#')) return []
    const [found, weight = '1', method = 'GET', path = ''] = line.exec(content) ?? []
    if (found === undefined || Number(weight) < 1)
      throw new Error(`${file}:${index + 1}: "${content}" is no request: write [weight] [METHOD] /path`)
    return [{ method: method.toUpperCase(), path, headers: [], weight: Number(weight) }]
  })
}
