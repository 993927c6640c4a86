import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type * as Nats from '@nats-io/transport-node'
import type { Auth, ConnectionOptions, NatsConnection } from '@nats-io/transport-node'
import { backoff } from '../time/backoff.ts'
import type { ClusterConfig } from '../hosts.ts'
import { connectTimeout, credentialsKey, describe, DialError } from './dial-error.ts'
import { PayloadLimit } from './payload-limit.ts'
import { type Dialled, dialWithSocket } from './server-socket.ts'
import { clientPingInterval, watchServer } from './server-watch.ts'
import { leastPayload, subjectsOf } from './subjects.ts'
import { Subscriptions } from './subscriptions.ts'

export type { NatsConnection }

export type NatsClient = typeof Nats
export type NatsMessage = Nats.Msg

/** The client of NATS, which the app has installed. */
export function clientOf({ client }: ClusterConfig): NatsClient {
  return createRequire(client)(client) as NatsClient
}

export interface ClusterConnectionParts {
  readonly config: ClusterConfig
  /** Shown in the server's monitoring. */
  readonly name: string
  /** A new connection, without subscriptions. They are made by the second argument. */
  readonly opened: (connection: NatsConnection, subscriptions: Subscriptions) => void
  /** That connection is lost, and with it what was in transit. */
  readonly lost: () => void
  /** Milliseconds that what was sent may take to reach the server. Default: hardly any. */
  readonly transitTime?: () => number
  readonly log: (level: 'info' | 'warn', line: string) => void
}

/**
 * Keeps a connection to a NATS server. The client's own reconnect is off: it keeps messages for
 * later, which would arrive after their calls have failed.
 */
export class ClusterConnection {
  readonly #parts: ClusterConnectionParts
  readonly #firstTry = Promise.withResolvers<void>()
  readonly #ended: Promise<void>
  #connection: NatsConnection | undefined
  #subscriptions: Subscriptions | undefined
  /** Of the last connection. */
  #dialled: (Dialled<NatsConnection> & { readonly server: string }) | undefined
  #limit: PayloadLimit | undefined
  #fault = 'is being connected'
  #isRefused = false
  /** The fault that was logged last since there was a connection. */
  #logged: string | undefined
  #isClosed = false
  #wake: () => void = () => {}

  constructor(parts: ClusterConnectionParts) {
    this.#parts = parts
    this.#ended = this.#run()
  }

  /** Undefined while there is none. */
  get current(): NatsConnection | undefined {
    return this.#connection
  }

  /** Bytes that the connection has received, or had when it was lost. */
  get bytesRead(): number {
    const { connection, socket } = this.#dialled ?? {}
    return socket?.bytesRead ?? connection?.stats().inBytes ?? 0
  }

  /** Why there is no connection. Undefined: there is one. */
  get fault(): string | undefined {
    return this.#connection === undefined ? `NATS at ${this.#servers} ${this.#fault}` : undefined
  }

  /** There is no connection because servers do not accept what this app signs in with. */
  get isRefused(): boolean {
    return this.#connection === undefined && this.#isRefused
  }

  /** What does not work by the connection that there is. */
  get refusal(): string | undefined {
    return this.#subscriptions?.fault
  }

  /** Resolves when a server was dialled once, with or without success. */
  get tried(): Promise<void> {
    return this.#firstTry.promise
  }

  /**
   * Resolves when a server has read what was sent until it was connected, or cannot be reached.
   */
  async sent(): Promise<void> {
    await this.tried
    await this.#connection?.flush().catch(() => {})
  }

  /** Another connection, which nothing watches. `timeout`: milliseconds for each server. */
  async dial(timeout: number): Promise<NatsConnection> {
    return (await this.#dial(timeout)).connection
  }

  /**
   * Looks for another `max_payload` of the server, at most every ten seconds. To be called before
   * something is refused as too large. Never rejects.
   */
  async renewLimit(): Promise<void> {
    if (this.#connection !== undefined) await this.#limit?.renew(this.#connection)
  }

  /**
   * Sends what is buffered, and resolves when nothing is open any more. `limit`: the milliseconds
   * for that. A server that does not answer must not delay the end.
   */
  async close(limit = flushTimeout): Promise<void> {
    this.#isClosed = true
    this.#wake()
    const connection = this.#connection
    if (connection !== undefined) {
      await Promise.race([connection.flush().catch(() => {}), sleepUnref(limit)])
      await connection.close()
    }
    await this.#ended
  }

  get #servers(): string {
    return this.#parts.config.servers.join(', ')
  }

  async #run(): Promise<void> {
    let failures = 0
    while (!this.#isClosed) {
      try {
        await this.#connect(failures > 0)
        failures = 0
        if (this.#isClosed) return
        this.#fails('has closed the connection, or is cut off')
        this.#isRefused = false
      } catch (error) {
        this.#isRefused = error instanceof DialError && error.isRefused
        this.#fails(`cannot be reached: ${(error as Error).message}`)
      }
      this.#firstTry.resolve()
      await this.#pause(backoff(failures++))
    }
  }

  /** Resolves when the connection is lost. */
  async #connect(wasLost: boolean): Promise<void> {
    const { opened, lost, transitTime, log } = this.#parts
    const dialled = await this.#dial()
    const { connection, socket } = dialled
    if (this.#isClosed) return await connection.close()
    this.#connection = connection
    this.#dialled = dialled
    this.#limit = new PayloadLimit(async () => (await this.#dial(connectTimeout, [dialled.server])).connection)
    this.#logged = undefined
    if (wasLost) log('info', `NATS at ${this.#servers} is connected again`)
    this.#subscriptions = new Subscriptions({ connection, servers: this.#servers, log })
    opened(connection, this.#subscriptions)
    this.#firstTry.resolve()
    const watch = watchServer(connection, { transitTime, socket })
    await connection.closed()
    watch[Symbol.dispose]()
    this.#connection = undefined
    this.#subscriptions = undefined
    lost()
  }

  /** The first server that accepts, in random order. Rejects with what each of them says. */
  async #dial(
    timeout = connectTimeout,
    servers = this.#parts.config.servers,
  ): Promise<Dialled<NatsConnection> & { readonly server: string }> {
    const client = clientOf(this.#parts.config)
    const faults = new Map<string, unknown>()
    for (const server of shuffled(servers)) {
      if (this.#isClosed) break
      try {
        const options = { ...optionsOf(this.#parts, server, client), timeout }
        return { ...(await usable(await dialWithSocket(() => client.connect(options)))), server }
      } catch (error) {
        faults.set(server, error)
      }
    }
    throw new DialError(faults, servers, timeout)
  }

  /** Logs a reason once, and the next one if it is another: a password may change meanwhile. */
  #fails(fault: string): void {
    this.#fault = fault
    if (this.#isClosed || this.#logged === fault) return
    this.#logged = fault
    this.#parts.log('warn', `NATS at ${this.#servers} ${fault}; it is dialled until it answers`)
  }

  async #pause(duration: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, duration).unref()
    this.#wake = resolve
    if (this.#isClosed) resolve()
    await promise
    clearTimeout(timer)
  }
}

/** Rejects if not even the messages that make a link fit. */
async function usable(dialled: Dialled<NatsConnection>): Promise<Dialled<NatsConnection>> {
  const { connection } = dialled
  const { max_payload: most = leastPayload } = connection.info ?? {}
  if (most >= leastPayload) return dialled
  await connection.close()
  throw new Error(
    `its max_payload is ${most} bytes, and Busbar needs at least ${leastPayload}: raise it (default: 1 MiB)`,
  )
}

/** Milliseconds that what is buffered may take at the end, over a slow network too. */
export const flushTimeout = 1_000

function optionsOf({ config, name }: ClusterConnectionParts, server: string, client: NatsClient): ConnectionOptions {
  const { credentials, user, password, tls } = config
  return {
    servers: [server],
    name,
    pingInterval: clientPingInterval,
    reconnect: false,
    noEcho: true,
    noAsyncTraces: true,
    inboxPrefix: subjectsOf(config.name).inbox,
    ...(user !== undefined && { user }),
    ...(password !== undefined && { pass: password }),
    // Read at every connection, because credentials are renewed.
    ...(credentials !== undefined && { authenticator: authenticatorOf(credentials, client) }),
    ...(tls !== undefined && {
      tls: {
        ...(tls.ca !== undefined && { caFile: tls.ca }),
        ...(tls.cert !== undefined && { certFile: tls.cert }),
        ...(tls.key !== undefined && { keyFile: tls.key }),
        ...hostOf(server),
      },
    }),
  }
}

/** `file`: credentials, as `nsc` writes them, or the seed of an nkey alone. */
function authenticatorOf(
  file: string,
  { credsAuthenticator, nkeyAuthenticator }: NatsClient,
): (nonce?: string) => Auth {
  return (nonce) => {
    const content = readCredentials(file)
    try {
      if (content.includes('BEGIN NATS USER JWT')) return credsAuthenticator(content)(nonce)
      return nkeyAuthenticator(Buffer.from(content.toString().trim()))(nonce)
    } catch (error) {
      const what = 'has neither credentials of nsc nor the seed of an nkey'
      throw new Error(`${credentialsKey}: ${file} ${what}: ${describe(error)}`, { cause: error })
    }
  }
}

function readCredentials(file: string): Buffer {
  try {
    return readFileSync(file)
  } catch (error) {
    throw new Error(`${credentialsKey}: ${file} cannot be read: ${describe(error)}`, { cause: error })
  }
}

/**
 * The name that the certificate of a server must have. The client passes it to `tls.connect`, which
 * otherwise compares with `localhost` if the address is an IP address (transport-node 3.4).
 */
function hostOf(server: string): object {
  return { host: new URL(`nats://${server}`).hostname.replace(/^\[|\]$/g, '') }
}

function shuffled<T>(list: readonly T[]): T[] {
  return list
    .map((value) => ({ value, at: Math.random() }))
    .toSorted((one, other) => one.at - other.at)
    .map(({ value }) => value)
}

function sleepUnref(duration: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, duration).unref())
}
