import { tlsFault } from '../tls-fault.ts'

/** Milliseconds until a server has accepted the connection. */
export const connectTimeout = 3_000

/** No server has accepted the connection. */
export class DialError extends Error {
  /** One of them does not accept what this app signs in with. */
  readonly isRefused: boolean

  /** `faults`: by server. `servers`: in the order of the config. `timeout`: what each had. */
  constructor(faults: ReadonlyMap<string, unknown>, servers: readonly string[], timeout = connectTimeout) {
    // The same faults are not logged again because they came in another order.
    const found = servers.filter((server) => faults.has(server))
    const said = found.map((server) => ({ server, text: describe(faults.get(server), timeout) }))
    const different = new Set(said.map(({ text }) => text))
    const texts = different.size > 1 ? said.map(({ server, text }) => `${server}: ${text}`) : [...different]
    super(texts.length === 0 ? 'is not dialled any more' : texts.join('; '))
    this.isRefused = [...faults.values()].some(isRefusal)
  }
}

export const credentialsKey = 'cluster.credentials'
const tlsNames = { ca: 'cluster.tls.ca', cert: 'cluster.tls.cert' }

/** What one server, or the socket, has said. */
export function describe(error: unknown, timeout = connectTimeout): string {
  if (wasCut(error)) return cut
  if (/^timeout$/i.test((error as Error).message)) return `no answer within ${timeout / 1_000} s`
  const tls = tlsFault(error, tlsNames)
  if (tls !== undefined) return tls
  const { code, message } = error as NodeJS.ErrnoException
  return message === '' || message === undefined ? String(code ?? error) : message
}

/** Credentials that cannot be read are as good as refused. */
function isRefusal(error: unknown): boolean {
  const { name, message } = error as Error
  return (
    name === 'AuthorizationError' || name === 'UserAuthenticationExpiredError' || message.startsWith(credentialsKey)
  )
}

/**
 * The server may close the connection before the client has read why: a server that is full says so
 * at once.
 */
function wasCut(error: unknown): boolean {
  const { code, message, cause } = error as NodeJS.ErrnoException
  const { code: causeCode } = (cause ?? {}) as NodeJS.ErrnoException
  // The client says "undefined error" if the connection ended without one.
  return cutCodes.has(code ?? causeCode) || /undefined error/.test(message)
}

const cutCodes: ReadonlySet<string | undefined> = new Set(['EPIPE', 'ECONNRESET'])
const cut = 'the connection was closed before it was accepted, as by a server that has its max_connections'
