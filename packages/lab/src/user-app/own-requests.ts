/** The requests of a run against an own app or a running server, as the command line has them. */
import { readFile } from 'node:fs/promises'
import type { LoadRequest } from '../engine/job.ts'
import { readRequests } from './request-file.ts'

export interface OwnRequests {
  readonly requests: readonly [LoadRequest, ...LoadRequest[]]
  readonly weights: readonly number[]
  /** They were chosen by the user, so the answer to GET may be anything. */
  readonly isPlain: boolean
}

export interface RequestFlags {
  readonly path?: string | undefined
  readonly method?: string | undefined
  readonly header?: readonly string[] | undefined
  readonly body?: string | undefined
  readonly requests?: string | undefined
}

/** Throws an error with a message for the user. `usual`: the path if no flag has one. */
export async function ownRequests(flags: RequestFlags, usual = '/'): Promise<OwnRequests> {
  const { path, method, header = [], body, requests: file } = flags
  const headers = header.map(toHeader)
  const isPlain = method === undefined && body === undefined && file === undefined
  if (file !== undefined) {
    if (path !== undefined || method !== undefined || body !== undefined)
      throw new Error('--requests replaces --path, --method and --body: give one or the other')
    const found = await readRequests(file)
    if (found.some(({ service }) => service !== undefined))
      throw new Error(`${file} names services, which only busbar try supports`)
    const [first, ...more] = found.map((one): LoadRequest => {
      const own = [...headers, ...one.headers.map(([name, value]): [string, string] => [name, value])]
      return { method: one.method, path: one.path, headers: own, ...(one.body !== undefined && { body: one.body }) }
    })
    return { requests: [first!, ...more], weights: found.map(({ weight }) => weight), isPlain }
  }
  const content = body?.startsWith('@') === true ? await readFile(body.slice(1), 'utf8') : body
  const request: LoadRequest = {
    path: path ?? usual,
    ...((method !== undefined || content !== undefined) && { method: (method ?? 'POST').toUpperCase() }),
    ...(headers.length > 0 && { headers }),
    ...(content !== undefined && { body: content }),
  }
  return { requests: [request], weights: [1], isPlain }
}

function toHeader(text: string): [string, string] {
  const [, name, value] = /^([!#$%&'*+.^_`|~\w-]+):\s*(.*?)\s*$/.exec(text) ?? []
  if (name === undefined || /[\r\n\0]/.test(text)) throw new Error(`--header needs 'name: value', not "${text}"`)
  return [name, value!]
}
