/**
 * How programs outside the workers call services: commands, and the threads and processes that
 * programs start. The supervisor opens private ports for them and announces these by environment
 * variables.
 */
import { fileURLToPath } from 'node:url'
import type { LocalPorts } from './local-ports.ts'
import { moduleFile } from '../package-files.ts'

/** What the workers know of these ports, whose connections they forward. */
export interface CallAccess {
  readonly ports: readonly CallPort[]
  /**
   * The secret that a connection to the port without a route must present: other users of this
   * machine can connect, too.
   */
  readonly token: string
}

export interface CallPort {
  readonly id: string
  readonly port: number
  /** Undefined if each connection states its route in a preamble. */
  readonly route: CallRoute | undefined
}

export interface CallRoute {
  /** The calling service. */
  readonly caller: string
  /** The called service. */
  readonly service: string
}

/** What a Node program gets, as JSON in {@link callsVariable}. */
export interface CallerAccess {
  readonly port: number
  readonly token: string
  /** The service that the program belongs to. */
  readonly caller: string
  /** The names of all services of the app. */
  readonly names: readonly string[]
  /** Ports of this machine that stand for a service. */
  readonly localPorts?: LocalPorts
}

export const callsVariable = 'BUSBAR_CALLS'
/** How many calls precede the start of the program in the chain. */
export const hopsVariable = 'BUSBAR_HOPS'

export const noCallAccess: CallAccess = { ports: [], token: '' }

/**
 * The environment variables by which Node programs of the service `caller` reach the app. Empty if
 * no port is open.
 */
export function callVariables(
  { ports, token }: CallAccess,
  caller: string,
  { names, localPorts }: Pick<CallerAccess, 'names' | 'localPorts'>,
  nodeOptions: string | undefined,
): Record<string, string> {
  const port = ports.find(({ route }) => route === undefined)?.port
  if (port === undefined) return {}
  const access: CallerAccess = { port, token, caller, names, ...(localPorts && { localPorts }) }
  return { [callsVariable]: JSON.stringify(access), [hopsVariable]: '0', NODE_OPTIONS: withPreload(nodeOptions) }
}

/**
 * For programs in any language: `CATALOG_URL=http://127.0.0.1:41234` for each service that `caller`
 * needs.
 */
export function urlVariables({ ports }: CallAccess, caller: string): Record<string, string> {
  const own = ports.flatMap(({ port, route }) => (route?.caller === caller ? [{ port, service: route.service }] : []))
  return Object.fromEntries(own.map(({ port, service }) => [urlVariable(service), `http://127.0.0.1:${port}`]))
}

/** The variable for `stock-levels` is `STOCK_LEVELS_URL`. */
export function urlVariable(service: string): string {
  return `${service.toUpperCase().replaceAll('-', '_')}_URL`
}

/**
 * A CommonJS module, since every version of Node reads this variable; in versions that are too old
 * it does nothing.
 */
export const preloadModule = fileURLToPath(moduleFile('preload', 'commonjs'))

/** Keeps the existing `NODE_OPTIONS`, in front. */
export function withPreload(nodeOptions = ''): string {
  if (nodeOptions.includes(preloadFlag)) return nodeOptions
  return nodeOptions === '' ? preloadFlag : `${nodeOptions} ${preloadFlag}`
}

/**
 * Node splits `NODE_OPTIONS` at unquoted spaces and treats a backslash within quotes as an escape.
 */
const preloadFlag = /[\s"\\]/.test(preloadModule)
  ? `--require="${preloadModule.replaceAll(/["\\]/g, String.raw`\$&`)}"`
  : `--require=${preloadModule}`
