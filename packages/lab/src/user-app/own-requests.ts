/** The requests of a run against an own app or a running server, as the command line has them. */
import { readFile } from 'node:fs/promises'
import type { LoadRequest } from '../engine/job.ts'
import { protoCall } from '../grpc/proto-call.ts'
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
  const content = await readBody(body)
  const request: LoadRequest = {
    path: path ?? usual,
    ...((method !== undefined || content !== undefined) && { method: (method ?? 'POST').toUpperCase() }),
    ...(headers.length > 0 && { headers }),
    ...(content !== undefined && { body: content }),
  }
  return { requests: [request], weights: [1], isPlain }
}

export interface CallFlags extends RequestFlags {
  readonly proto?: string | undefined
  readonly call?: string | undefined
}

/** Undefined if the flags have no call. Throws an error with a message for the user. */
export async function ownCall(flags: CallFlags): Promise<OwnRequests | undefined> {
  const { proto, call, method, path, requests, header = [], body } = flags
  if (proto === undefined && call === undefined) return undefined
  if (proto === undefined) throw new Error('--call needs the messages: --proto file.proto')
  if (call === undefined) throw new Error('--proto needs a method: --call package.Service/Method')
  if (method !== undefined || path !== undefined || requests !== undefined)
    throw new Error('--call replaces --method, --path and --requests: give one or the other')
  const { request } = protoCall(proto, call)
  const input = parse((await readBody(body)) ?? '{}')
  return { requests: [{ ...request(input), headers: header.map(toHeader) }], weights: [1], isPlain: false }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new Error(`--body of a call must be the message as JSON: ${(error as Error).message}`, { cause: error })
  }
}

/** `@file`: the content of a file. */
async function readBody(body: string | undefined): Promise<string | undefined> {
  return body?.startsWith('@') === true ? await readFile(body.slice(1), 'utf8') : body
}

function toHeader(text: string): [string, string] {
  const [, name, value] = /^([!#$%&'*+.^_`|~\w-]+):\s*(.*?)\s*$/.exec(text) ?? []
  if (name === undefined || /[\r\n\0]/.test(text)) throw new Error(`--header needs 'name: value', not "${text}"`)
  return [name, value!]
}
