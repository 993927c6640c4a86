import { STATUS_CODES } from 'node:http'
import { errorTable, type ErrorCode } from '../../contract/errors.ts'
import type { RefusalReason } from '../../shared/metrics/refusals.ts'

/** A response that the gateway itself makes, as problem details (RFC 9457). */
export interface Problem {
  readonly code: ErrorCode
  readonly detail: string
  /** Counted as this, where the code has several reasons. */
  readonly reason?: RefusalReason
  /** Extension members, such as `service` and `routes`. */
  readonly more?: Readonly<Record<string, unknown>>
  readonly headers?: Readonly<Record<string, string>>
}

export interface RenderedProblem {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/**
 * `instance`: the requested path. Its query is removed, since it may contain secrets and responses
 * may be logged. The response is never cached: a 404 would be by default (RFC 9110, 15.1), and
 * would outlive the addition of the missing route.
 */
export function renderProblem(problem: Problem, instance: string | undefined): RenderedProblem {
  const { status } = errorTable[problem.code]
  const body = JSON.stringify({
    type: 'about:blank',
    title: STATUS_CODES[status],
    status,
    detail: problem.detail,
    instance: instance?.split('?', 1)[0],
    code: problem.code,
    ...problem.more,
  })
  return {
    status,
    headers: {
      'content-type': 'application/problem+json',
      'content-length': String(Buffer.byteLength(body)),
      'cache-control': 'no-store',
      ...problem.headers,
    },
    body,
  }
}

/** HTTP text for a connection that has no `ServerResponse`. It says `connection: close`. */
export function problemText(problem: Problem, instance: string | undefined, method?: string): string {
  const { status, headers, body } = renderProblem(problem, instance)
  const lines = Object.entries({ ...headers, date: new Date().toUTCString(), connection: 'close' })
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${head}\r\n${method === 'HEAD' ? '' : body}`
}
