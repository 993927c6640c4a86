import { BusbarError } from '../../errors.ts'

/** How a method is reached over HTTP, besides `POST /<service>/<method>`. */
export interface HttpMapping {
  readonly verb: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** `/products/{id}`. */
  readonly path: string
  readonly segments: readonly PathSegment[]
  /** The input fields in the path. */
  readonly parameters: readonly string[]
}

/** A path segment: fixed text, or an input field. */
export type PathSegment = { readonly text: string } | { readonly parameter: string }

const form = /^(GET|POST|PUT|PATCH|DELETE) (\/\S*)$/

/** Parses `GET /products/{id}`. Throws CONTRACT_INVALID. */
export function parseHttp(text: string): HttpMapping {
  const [, verb, path] = form.exec(text) ?? []
  if (verb === undefined || path === undefined || /[?#\\]|\/\/|\/\.{1,2}(?=\/|$)/.test(path)) throw invalid(text)
  const segments = path
    .split('/')
    .slice(1)
    .map((segment) => parseSegment(segment, text))
  const parameters = segments.flatMap((segment) => ('parameter' in segment ? [segment.parameter] : []))
  if (new Set(parameters).size < parameters.length) throw invalid(text)
  return { verb: verb as HttpMapping['verb'], path, segments, parameters }
}

/** Whether the fields that are not in the path go into the query; else they form the body. */
export function hasQuery({ verb }: HttpMapping): boolean {
  return verb === 'GET' || verb === 'DELETE'
}

function parseSegment(segment: string, text: string): PathSegment {
  const [, parameter] = /^\{([A-Za-z_]\w*)\}$/.exec(segment) ?? []
  if (parameter !== undefined && parameter !== '__proto__') return { parameter }
  if (/[{}:*%]/.test(segment)) throw invalid(text)
  return { text: segment }
}

function invalid(text: string): BusbarError {
  return new BusbarError('CONTRACT_INVALID', {
    message: `the HTTP mapping ${JSON.stringify(text)} is invalid`,
    hint: "Write it as 'GET /products/{id}': GET, POST, PUT, PATCH or DELETE, a path, and input fields as whole segments in braces.",
  })
}
