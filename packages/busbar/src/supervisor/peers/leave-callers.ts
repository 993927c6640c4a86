import type { GatewayEntrance } from '../accept/gateway-entrance.ts'
import { type PeerRegistry, replaced } from './peer-registry.ts'

/**
 * Stops new calls to a worker that is about to drain. Resolves when the calls that were sent to it
 * are read, and those of a command answered, or after `limit` milliseconds.
 */
export async function leaveCallers(
  worker: number,
  peers: PeerRegistry,
  entrance: GatewayEntrance | undefined,
  limit: number,
): Promise<void> {
  // Other workers tell when they have their answers from a command, the entrance does not.
  const commands = peers.commandsOf(worker)
  const left = peers.leave(worker, replaced, limit)
  await Promise.all([left, entrance?.answered(commands, limit)])
}
