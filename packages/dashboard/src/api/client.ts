/** Calls the admin API. The token is in a header of each call, never in an address. */
import { recording } from '../recording/recording.ts'
import { token } from '../state/session.ts'

interface Problem {
  readonly code?: string
  readonly detail?: string
  readonly hint?: string
  readonly data?: unknown
}

/** A problem document (RFC 9457) as an error. */
export class ApiError extends Error {
  readonly status: number
  readonly code: string
  readonly hint: string | undefined
  /** Of an error that a typed service has declared. */
  readonly data: unknown

  constructor(status: number, { code, detail, hint, data }: Problem) {
    super(detail ?? `the app answered ${status}`)
    this.status = status
    this.code = code ?? 'INTERNAL'
    this.hint = hint
    this.data = data
  }
}

export async function get<T>(
  path: string,
  query: Readonly<Record<string, string | number | boolean>> = {},
): Promise<T> {
  if (recording !== undefined) return recorded(path, recording.answers) as T
  const entries = Object.entries(query).map(([name, value]): [string, string] => [name, String(value)])
  const suffix = entries.length === 0 ? '' : `?${new URLSearchParams(entries).toString()}`
  return (await (await send(`${path}${suffix}`)).json()) as T
}

/** A saved page has one answer for each path, whatever the query. */
function recorded(path: string, answers: Readonly<Record<string, unknown>>): unknown {
  if (Object.hasOwn(answers, path)) return answers[path]
  throw new ApiError(404, { code: 'NOT_FOUND', detail: 'the saved page does not have this' })
}

export async function post<T>(path: string, body: object = {}, signal?: AbortSignal): Promise<T> {
  const headers = { 'content-type': 'application/json' }
  const options = { method: 'POST', headers, body: JSON.stringify(body), ...(signal && { signal }) }
  return (await (await send(path, options)).json()) as T
}

/** Rejects with an {@link ApiError}, or with a `TypeError` if nothing answers. */
export async function send(path: string, options: RequestInit = {}): Promise<Response> {
  const headers = new Headers(options.headers)
  headers.set('authorization', `Bearer ${token.value ?? ''}`)
  // Relative: a proxy may add a prefix.
  const response = await fetch(`.${path}`, { ...options, headers, cache: 'no-store' })
  if (response.ok) return response
  throw new ApiError(response.status, (await response.json().catch(() => ({}))) as Problem)
}

export function serviceAt(service: string, action: string): string {
  return `/services/${encodeURIComponent(service)}/${action}`
}
