import http from 'node:http'
import type { Server } from 'node:net'
import { fetchListener, type FetchHandler } from './fetch-listener.ts'
import { isHttpServer } from '../servers/captured-server.ts'

/** How a program's export can be served. */
export type Recognised =
  /** `listen` makes it listen, and its server is captured. */
  | { readonly is: 'servable'; readonly listen: () => unknown }
  /** A function that returns what can be served, or listens itself. */
  | { readonly is: 'factory'; readonly create: () => unknown }
  /** `found` describes the export for messages; undefined if there is none. */
  | { readonly is: 'unknown'; readonly found: string | undefined }

/**
 * Any port will do: the server is captured. On loopback frameworks do not look up the machine's
 * addresses.
 */
const anyAddress = { port: 0, host: '127.0.0.1' }

/**
 * Recognises an export by its shape, not its class: a program has its own copy of its framework.
 * Frameworks are tried before `fetch` and plain functions, since an Express app is a function and a
 * Hono app has a `fetch`.
 */
export function recognise(value: unknown): Recognised {
  if (isHttpServer(value)) return servable(() => value.listening || value.listen(anyAddress))
  if (isFastify(value)) return servable(() => value.listen(anyAddress))
  if (hasMethods(value, 'listen', 'getHttpServer'))
    return servable(() => value.listen(anyAddress.port, anyAddress.host))
  if (hasMethods(value, 'fetch')) return servable(() => serve(fetchListener(value as unknown as FetchHandler)))
  if (hasMethods(value, 'listen', 'use')) return servable(() => value.listen(anyAddress.port, anyAddress.host))
  if (typeof value === 'function') return recogniseFunction(value as Callable)
  return { is: 'unknown', found: describe(value) }
}

/**
 * The named exports that are tried in this order if there is no default export. A server comes
 * before the app that it serves, since it may accept upgrades too, and a ready app before a
 * factory. `create` is that of Watt's applications.
 */
export const servedNames = ['server', 'app', 'handler', 'fetch', 'build', 'create'] as const

export interface RecognisedName {
  readonly name: string
  readonly recognised: Recognised
}

/** The first of {@link servedNames} that can be served, or else the first that exists. */
export async function recogniseNamed(named: Readonly<Record<string, unknown>>): Promise<RecognisedName | undefined> {
  let first: RecognisedName | undefined
  for (const name of servedNames) {
    const value = named[name]
    if (!isDefined(value)) continue
    const recognised = recognise(interpretByName(name, await value))
    if (recognised.is !== 'unknown') return { name, recognised }
    first ??= { name, recognised }
  }
  return first
}

/** Compilers leave `undefined` in place of an erased export. */
export function isDefined(value: unknown): boolean {
  return value !== undefined && value !== null
}

/** Uses the name of a function whose shape is ambiguous. */
function interpretByName(name: (typeof servedNames)[number], value: unknown): unknown {
  if (typeof value !== 'function' || recognise(value).is === 'unknown') return value
  if (hasMethods(value, 'listen') || hasMethods(value, 'fetch')) return value
  const call = value as Callable
  if (name === 'build' || name === 'create') return (options: unknown) => call(options)
  if (name === 'fetch' || (name === 'handler' && value.length === 1)) return { fetch: call }
  if (name === 'handler') return (req: unknown, res: unknown, ...more: unknown[]) => call(req, res, ...more)
  return value
}

type Callable = (...args: unknown[]) => unknown
type Methods<K extends string> = Record<K, Callable>

function servable(listen: () => unknown): Recognised {
  return { is: 'servable', listen }
}

function isFastify(value: unknown): value is Methods<'listen'> {
  return hasMethods(value, 'listen', 'ready', 'inject')
}

function hasMethods<K extends string>(value: unknown, ...names: K[]): value is Methods<K> {
  if ((typeof value !== 'object' || value === null) && typeof value !== 'function') return false
  return names.every((name) => typeof (value as Record<string, unknown>)[name] === 'function')
}

/** Two parameters are a request and a response; one or none are options. */
function recogniseFunction(value: Callable): Recognised {
  const source = Function.prototype.toString.call(value)
  if (source.startsWith('class')) return { is: 'unknown', found: `the class ${value.name || 'without a name'}` }
  if (isFastifyPlugin(source))
    return { is: 'unknown', found: 'a Fastify plugin, which needs an instance to register it' }
  if (value.length >= 2) return servable(() => serve(value))
  return { is: 'factory', create: () => value({}) }
}

function isFastifyPlugin(source: string): boolean {
  return /^(async\s*)?(function\b\s*\w*\s*)?\(?\s*fastify\s*[,)=]/.test(source)
}

function serve(listener: http.RequestListener): Server {
  return http.createServer(listener).listen(anyAddress)
}

function describe(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'object') return `a ${typeof value}`
  const keys = Object.keys(value)
  if (Object.getPrototypeOf(value) === Object.prototype) {
    return keys.length === 0 ? undefined : `an object with the keys ${keys.slice(0, 8).join(', ')}`
  }
  return `an instance of ${(value.constructor as { name?: string } | undefined)?.name ?? 'an unnamed class'}`
}
