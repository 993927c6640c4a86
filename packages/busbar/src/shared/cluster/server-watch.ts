import type { NatsConnection } from '@nats-io/transport-node'

/**
 * Milliseconds between two pings of the server. After the second unanswered one it counts as gone.
 */
const pingInterval = 4_000
const maxPingOut = 2

/**
 * Milliseconds: the client never pings by itself. It does not know what delays the answer to a
 * ping.
 */
export const clientPingInterval = 2 ** 31 - 1

/**
 * Closes a connection whose server has gone. Messages that arrive show that it is there: an answer
 * may be behind them. `transitTime`: milliseconds that what was sent before a ping may take.
 * Intervals of a timer are counted rather than time, because none pass while this thread is
 * stopped.
 */
export function watchServer(connection: NatsConnection, transitTime: () => number = () => 0): Disposable {
  let unanswered = 0
  let received = 0
  const timer = setInterval(() => {
    const { inBytes } = connection.stats()
    if (inBytes !== received) unanswered = 0
    received = inBytes
    const excused = Math.floor(transitTime() / pingInterval)
    if (unanswered >= maxPingOut + excused) return void connection.close()
    unanswered++
    connection.flush().then(
      () => (unanswered = 0),
      () => {},
    )
  }, pingInterval).unref()
  return { [Symbol.dispose]: () => clearInterval(timer) }
}
