import type { NatsConnection } from '@nats-io/transport-node'

/** Milliseconds between two looks at the limit of a server. */
const lookInterval = 10_000

/**
 * Keeps `max_payload` of a connection current. A server that reloads its config applies another
 * limit to all its connections, but only new connections get to know it (nats-server 2.9 to 2.12,
 * `maxPayloadOption` in `server/reload.go`). The client refuses what is larger than it knows.
 */
export class PayloadLimit {
  readonly #dial: () => Promise<NatsConnection>
  #lookedAt = -Infinity
  #look: Promise<void> | undefined

  /** `dial`: opens another connection to the same server. */
  constructor(dial: () => Promise<NatsConnection>) {
    this.#dial = dial
  }

  /** For when a message does not fit. Never rejects. */
  async renew(connection: NatsConnection): Promise<void> {
    if (performance.now() - this.#lookedAt < lookInterval) return await this.#look
    this.#lookedAt = performance.now()
    this.#look = this.#lookFor(connection).finally(() => (this.#look = undefined))
    await this.#look
  }

  async #lookFor({ info }: NatsConnection): Promise<void> {
    let other: NatsConnection | undefined
    try {
      other = await this.#dial()
      // One address may lead to several servers.
      if (info !== undefined && other.info?.server_id === info.server_id) info.max_payload = other.info.max_payload
    } catch {
      // Without a look, the limit stays what it was.
    } finally {
      await other?.close()
    }
  }
}
