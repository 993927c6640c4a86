/** The parsed arguments of a call of `connect`. */
export interface ConnectTarget {
  readonly host: string
  readonly port: number
  readonly callback: (() => void) | undefined
  /** All named options. */
  readonly options: object
}

/**
 * Parses `connect(options, callback)`, `connect(port, host, callback)`, or the list that Node
 * normalizes both to. Undefined for Unix sockets, without a host, and for ports that Node rejects.
 */
export function connectTargetOf(args: readonly unknown[]): ConnectTarget | undefined {
  const list = Array.isArray(args[0]) ? (args[0] as readonly unknown[]) : args
  const [first] = list
  const last = list.at(-1)
  const callback = typeof last === 'function' ? (last as () => void) : undefined
  const options = typeof first === 'object' && first !== null ? first : { port: first, host: list[1] }
  const { host, port, path } = options as { host?: unknown; port?: unknown; path?: unknown }
  if (typeof host !== 'string' || Boolean(path) || !isPort(port)) return undefined
  return { host, port: Number(port), callback, options }
}

function isPort(port: unknown): boolean {
  if (typeof port !== 'number' && (typeof port !== 'string' || port.trim() === '')) return false
  const number = Number(port)
  return Number.isInteger(number) && number >= 0 && number <= 65_535
}
