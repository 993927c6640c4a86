/** The client of the admin API, over an app's own socket. */
import { request, type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import type * as z from 'zod'
import { BusbarError, isErrorCode } from '../../contract/errors.ts'
import type { AppStatus } from '../../observe/app-status.ts'
import { getStatus } from './operations/app.ts'
import type { FileOperation, JsonOperation, LinesOperation, Operation } from './operations/operation.ts'

export interface RequestOptions {
  /** Milliseconds for the whole request. Default: no limit. */
  readonly timeout?: number
  readonly signal?: AbortSignal
}

/** Milliseconds. A supervisor answers from memory: one that takes longer is stuck or suspended. */
export const statusTimeout = 2000

/**
 * Calls operations of one running app. Rejects with the BusbarError of the problem document, with
 * DEADLINE_EXCEEDED, or with APP_NOT_RUNNING if nothing listens any more.
 */
export class AdminClient {
  readonly socketPath: string

  constructor(socketPath: string) {
    this.socketPath = socketPath
  }

  async json<Input extends z.ZodObject, Output extends z.ZodType>(
    operation: JsonOperation<Input, Output>,
    input: z.input<Input>,
    options?: RequestOptions,
  ): Promise<z.output<Output>> {
    return JSON.parse(await this.#send(operation, input, options, text)) as z.output<Output>
  }

  /** Ends with the response. */
  async *lines<Input extends z.ZodObject>(
    operation: LinesOperation<Input>,
    input: z.input<Input>,
    options?: RequestOptions,
  ): AsyncGenerator<string> {
    const response = await this.#send(operation, input, options, unread)
    let rest = ''
    try {
      // Not `node:readline`, for which the U+2028 of a text ends a line, too.
      for await (const chunk of response.setEncoding('utf8')) {
        const lines = `${rest}${chunk as string}`.split('\n')
        rest = lines.pop()!
        yield* lines
      }
    } finally {
      response.destroy()
    }
  }

  file<Input extends z.ZodObject>(
    operation: FileOperation<Input>,
    input: z.input<Input>,
    options?: RequestOptions,
  ): Promise<IncomingMessage> {
    return this.#send(operation, input, options, unread)
  }

  async #send<T>(
    operation: Pick<Operation, 'method' | 'path'>,
    input: object,
    { timeout, signal }: RequestOptions = {},
    read: (response: IncomingMessage) => T | Promise<T>,
  ): Promise<T> {
    const limit = timeout === undefined ? undefined : AbortSignal.timeout(timeout)
    try {
      const response = await this.#request(operation, input, AbortSignal.any([limit, signal].filter(isDefined)))
      if (response.statusCode! >= 400) throw toError(await text(response), response.statusCode!)
      return await read(response)
    } catch (error) {
      if (limit?.aborted === true) throw tooLate(this.socketPath, timeout!)
      throw isGone(error) ? notRunning(error) : error
    }
  }

  async #request(
    { method, path }: Pick<Operation, 'method' | 'path'>,
    input: object,
    signal: AbortSignal,
  ): Promise<IncomingMessage> {
    const { target, body } = encode(method, path, input)
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
    const headers = {
      connection: 'close',
      ...(body !== undefined && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
    }
    request({ socketPath: this.socketPath, method, path: target, headers, signal }, resolve)
      .once('error', reject)
      .end(body)
    return await promise
  }
}

const unread = (response: IncomingMessage): IncomingMessage => response

/**
 * Asks a running app for its status. Rejects with DEADLINE_EXCEEDED if its supervisor is stuck.
 */
export function askStatus(socketPath: string, timeout: number = statusTimeout): Promise<AppStatus> {
  return new AdminClient(socketPath).json(getStatus, {}, { timeout })
}

function encode(method: string, path: string, input: object): { target: string; body: string | undefined } {
  const others = new Map(Object.entries(input as Record<string, unknown>).filter(([, value]) => value !== undefined))
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = others.get(name) as string
    others.delete(name)
    return encodeURIComponent(value)
  })
  if (method === 'POST') return { target: filled, body: JSON.stringify(Object.fromEntries(others)) }
  const query = new URLSearchParams([...others].map(([name, value]): [string, string] => [name, String(value)]))
  return { target: query.size === 0 ? filled : `${filled}?${query.toString()}`, body: undefined }
}

/** A problem's code may also be one that the contract of a called method declares. */
function toError(body: string, status: number): BusbarError<string> {
  const { code = 'INTERNAL', detail = `the app answered ${status}`, hint, service, data } = parseProblem(body)
  const parts = {
    message: detail,
    ...(hint !== undefined && { hint }),
    ...(service !== undefined && { service }),
    ...(data !== undefined && { data }),
  }
  if (isErrorCode(code)) return new BusbarError(code, parts)
  return new BusbarError<string>(code, parts, { status })
}

function parseProblem(body: string): {
  code?: string
  detail?: string
  hint?: string
  service?: string
  data?: unknown
} {
  try {
    return JSON.parse(body) as ReturnType<typeof parseProblem>
  } catch {
    return {}
  }
}

function isGone(error: unknown): error is Error {
  return ['ECONNREFUSED', 'ENOENT', 'ECONNRESET', 'EPIPE'].includes((error as NodeJS.ErrnoException).code ?? '')
}

function notRunning(cause: Error): BusbarError {
  return new BusbarError('APP_NOT_RUNNING', { message: 'the app has ended', cause })
}

function tooLate(socketPath: string, timeout: number): BusbarError {
  return new BusbarError('DEADLINE_EXCEEDED', { message: `${socketPath} did not answer within ${timeout} ms` })
}

function isDefined<T>(value: T | undefined): value is T {
  return value !== undefined
}
