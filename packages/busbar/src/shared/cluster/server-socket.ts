import { AsyncLocalStorage } from 'node:async_hooks'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Socket } from 'node:net'

/** What the client has dialled, if Node has said so. */
export interface Dialled<Connection> {
  readonly connection: Connection
  readonly socket: Socket | undefined
}

/** Published by Node for each client socket when it is created. */
const channel = 'net.client.socket'

/** The dial that the running code belongs to. */
const dials = new AsyncLocalStorage<object>()

/**
 * Finds the socket of a connection. The client of NATS does not show its own, and counts a message
 * only when it is whole. A TLS socket counts at the socket that it encrypts.
 */
export async function dialWithSocket<Connection>(dial: () => Promise<Connection>): Promise<Dialled<Connection>> {
  const own = {}
  let socket: Socket | undefined
  const created = (message: unknown): void => {
    if (dials.getStore() === own) socket = (message as { socket: Socket }).socket
  }
  subscribe(channel, created)
  try {
    return { connection: await dials.run(own, dial), socket }
  } finally {
    unsubscribe(channel, created)
  }
}
