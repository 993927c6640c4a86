import { Agent, type ClientRequestArgs } from 'node:http'
import type { Socket } from 'node:net'

/** Of a connection that is made in another way than by host and port. */
export interface Kept {
  /** Whoever says the same may have it afterwards. */
  readonly name: string
  readonly connect: () => Socket
}

/** Keeps connections for the next requests; Node closes them before the server says that it would. */
export class KeptAgent extends Agent {
  constructor() {
    super({ keepAlive: true })
  }

  override createConnection(
    ...[options, callback]: Parameters<Agent['createConnection']>
  ): ReturnType<Agent['createConnection']> {
    const { connect } = options as ClientRequestArgs & Partial<Kept>
    return connect === undefined ? super.createConnection(options, callback) : connect()
  }

  override getName(options: Parameters<Agent['getName']>[0]): string {
    return (options as Partial<Kept> | undefined)?.name ?? super.getName(options)
  }
}
