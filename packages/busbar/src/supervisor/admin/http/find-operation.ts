import { BusbarError } from '../../../contract/errors.ts'
import { operations } from '../operations/table.ts'
import type { Operation } from '../operations/operation.ts'

export interface FoundOperation {
  readonly operation: Operation
  /** The parameters in the path. */
  readonly inPath: Readonly<Record<string, string>>
}

const patterns = operations.map((operation) => ({ operation, pattern: patternOf(operation.path) }))

/** `url`: with its query. Throws ROUTE_NOT_FOUND or METHOD_NOT_ALLOWED. */
export function findOperation(method: string, url: string): FoundOperation {
  const path = url.split('?', 1)[0]!
  const matching = patterns.flatMap(({ operation, pattern }) => {
    const match = pattern.exec(path)
    return match === null ? [] : [{ operation, inPath: decoded(match.groups ?? {}, path) }]
  })
  if (matching.length === 0)
    throw new BusbarError('ROUTE_NOT_FOUND', {
      message: `the admin API has no ${path}`,
      hint: 'GET /openapi.json describes it.',
    })
  // HEAD is answered like GET; Node sends no body then.
  const wanted = method === 'HEAD' ? 'GET' : method
  const found = matching.find(({ operation }) => operation.method === wanted)
  if (found !== undefined) return found
  const allow = matching.flatMap(({ operation }) => (operation.method === 'GET' ? ['GET', 'HEAD'] : operation.method))
  throw new BusbarError('METHOD_NOT_ALLOWED', { message: `${path} takes ${allow.join(' and ')} only`, data: { allow } })
}

/** True if the request is for an operation that anybody may use. */
export function isPublic(url: string): boolean {
  const path = url.split('?', 1)[0]!
  return patterns.some(({ operation, pattern }) => operation.isPublic === true && pattern.test(path))
}

function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replaceAll('.', String.raw`\.`).replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`)
}

function decoded(groups: Readonly<Record<string, string>>, path: string): Record<string, string> {
  try {
    return Object.fromEntries(Object.entries(groups).map(([name, text]) => [name, decodeURIComponent(text)]))
  } catch {
    throw new BusbarError('REQUEST_MALFORMED', { message: `${path} is not valid percent-encoding` })
  }
}
