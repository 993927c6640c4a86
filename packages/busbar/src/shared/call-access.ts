/**
 * How programs outside of the workers call services: commands, and the threads and processes that programs start. The supervisor
 * opens private ports for them, and they learn of these by their environment.
 */
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'

/** What the workers know: connections to these ports are theirs to relay. */
export interface CallAccess {
  readonly ports: readonly CallPort[]
  /** What a connection to the port without a route has to know: other users of this machine can connect to it, too. */
  readonly token: string
}

export interface CallPort {
  readonly id: string
  readonly port: number
  /** Undefined where each connection says it by itself, in its preamble. */
  readonly route: CallRoute | undefined
}

export interface CallRoute {
  /** The service that calls. */
  readonly caller: string
  /** The service that is called. */
  readonly service: string
}

/** What a program of Node is told, as JSON in {@link callsVariable}. */
export interface CallerAccess {
  readonly port: number
  readonly token: string
  /** The service that it is a part of. */
  readonly caller: string
  /** All services of the app. */
  readonly names: readonly string[]
}

export const callsVariable = 'BUSBAR_CALLS'
/** How many calls led to the start of the program. */
export const hopsVariable = 'BUSBAR_HOPS'

export const noCalls: CallAccess = { ports: [], token: '' }

/** The variables by which Node programs of the service `caller` reach the app. Empty where no port is open. */
export function callVariables(
  { ports, token }: CallAccess,
  caller: string,
  names: readonly string[],
  nodeOptions: string | undefined,
): Record<string, string> {
  const port = ports.find(({ route }) => route === undefined)?.port
  if (port === undefined) return {}
  const access: CallerAccess = { port, token, caller, names }
  return { [callsVariable]: JSON.stringify(access), [hopsVariable]: '0', NODE_OPTIONS: withPreload(nodeOptions) }
}

/** For programs of every language: `CATALOG_URL=http://127.0.0.1:41234` for each service that `caller` needs. */
export function urlVariables({ ports }: CallAccess, caller: string): Record<string, string> {
  const own = ports.flatMap(({ port, route }) => (route?.caller === caller ? [{ port, service: route.service }] : []))
  return Object.fromEntries(own.map(({ port, service }) => [urlVariable(service), `http://127.0.0.1:${port}`]))
}

/** `stock-levels` is called by `STOCK_LEVELS_URL`. */
export function urlVariable(service: string): string {
  return `${service.toUpperCase().replaceAll('-', '_')}_URL`
}

/**
 * A module of CommonJS, since Node of any version reads this variable: one that is too old for the rest leaves it at
 * that.
 */
export const preloadModule = fileURLToPath(
  new URL(`../preload${extname(import.meta.url) === '.ts' ? '.cts' : '.cjs'}`, import.meta.url),
)

/** What is in `NODE_OPTIONS` stays, and comes first. */
export function withPreload(nodeOptions = ''): string {
  if (nodeOptions.includes(preloadFlag)) return nodeOptions
  return nodeOptions === '' ? preloadFlag : `${nodeOptions} ${preloadFlag}`
}

/** Node splits the variable at spaces outside of quotes, and takes a backslash within quotes for an escape. */
const preloadFlag = /[\s"\\]/.test(preloadModule)
  ? `--require="${preloadModule.replaceAll(/["\\]/g, String.raw`\$&`)}"`
  : `--require=${preloadModule}`
