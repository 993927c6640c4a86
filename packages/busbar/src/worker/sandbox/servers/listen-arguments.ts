import { type AddressInfo, Server, Socket } from 'node:net'

/** The arguments of `server.listen()` that matter to a server that listens on a private socket. */
export interface ListenRequest {
  readonly path: string | undefined
  /** Undefined: every address. */
  readonly host: string | undefined
  /** 0: any free port. */
  readonly port: number
  readonly callback: (() => void) | undefined
  readonly signal: AbortSignal | undefined
}

/**
 * Reads all forms of `listen()` (Node's docs, net, "server.listen()"). Returns undefined for
 * arguments that Node itself refuses.
 */
export function parseListenArguments(args: readonly unknown[]): ListenRequest | undefined {
  const [first, second] = args
  const last = args.at(-1)
  const callback = typeof last === 'function' ? (last as () => void) : undefined
  const isOptions = typeof first === 'object' && first !== null
  const options = (isOptions ? first : positional(first, second)) as Record<string, unknown>
  const { path, host, port, signal } = options
  const common = { callback, signal: signal instanceof AbortSignal ? signal : undefined }
  if (signal !== undefined && common.signal === undefined) return undefined
  const isNumber = port !== undefined && port !== null
  if (!isNumber && typeof path === 'string') return { ...common, path, host: undefined, port: 0 }
  const name = typeof host === 'string' && host !== '' ? host : undefined
  const number = isNumber ? portOf(port) : 0
  if (number === undefined || (isOptions && !isBinding(options))) return undefined
  return { ...common, path: undefined, host: name, port: number }
}

/** A handle, descriptor or server counts as any port: no caller connects to what it is bound to. */
function isBinding(options: object): boolean {
  if (options instanceof Server || options instanceof Socket) return true
  return ['port', 'path', 'fd', 'handle'].some((key) => key in options)
}

function positional(first: unknown, second: unknown): object {
  if (typeof first === 'function' || first === undefined || first === null) return { port: 0 }
  if (typeof first === 'string' && portOf(first) === undefined && !/^\d+$/.test(first.trim())) return { path: first }
  return { port: first, host: second }
}

function portOf(value: unknown): number | undefined {
  if (typeof value !== 'number' && (typeof value !== 'string' || value.trim() === '')) return undefined
  const number = Number(value)
  return Number.isInteger(number) && number >= 0 && number <= 65_535 ? number : undefined
}

/** Returns what `server.address()` shows. `inventPort` is called for port 0. */
export function addressOf(
  { path, port }: ListenRequest,
  ip: string | undefined,
  inventPort: () => number,
): AddressInfo | string {
  if (path !== undefined) return path
  const family = ip === undefined || ip.includes(':') ? 'IPv6' : 'IPv4'
  return { address: ip ?? '::', family, port: port > 0 ? port : inventPort() }
}
