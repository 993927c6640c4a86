/** Why the queue of a cluster cannot be used, and what to do about it. */
import { apiCode, isApiError } from '../../shared/cluster/jetstream.ts'

export interface QueueFault {
  readonly is: keyof typeof hints
  readonly message: string
}

const hints = {
  unreachable:
    'Start the servers that cluster.nats names, or correct their addresses. The app connects again by itself.',
  refused:
    'Check cluster.credentials, or the user and password in cluster.nats, and the users of the servers. The app connects again by itself.',
  disabled:
    'The queue needs JetStream: start the NATS servers with nats-server -js, and enable it for the account of the app.',
  unled:
    'JetStream needs a majority of the servers that keep its streams. They may be electing a leader: try again. It does not answer either if it was disabled.',
  forbidden:
    'Permit the user of the app what the message names. The queue publishes to $JS.API.> and $JS.ACK.>, and both publishes and subscribes to busbar.<cluster>.>.',
  storage:
    'Its streams reserve four times queues.maxSize: lower that, or raise max_file_store of the server, or max_file of the account.',
  streams: 'The queue of a cluster needs four streams: raise max_streams of the account, or delete streams of others.',
  deleted:
    'Somebody has deleted this stream, with what it held. The app makes it anew within seconds: try again. If it cannot, its log says why.',
  replicas: 'cluster.replicas may be at most the number of NATS servers with JetStream that form one cluster.',
  other: 'The queue needs NATS servers with JetStream. Their log may say more.',
} as const

export function hintOf({ is }: QueueFault): string {
  return hints[is]
}

/** What JetStream, or the client, has said. `isCut`: the server answers no pings either. */
export function faultOf(error: unknown, isCut = false): QueueFault {
  return { is: kindOf(error, isCut), message: (error as Error).message }
}

/** Whether a stream is full, and which limit it has. Undefined: the error is another one. */
export function limitOf(error: unknown): 'maxDepth' | 'maxSize' | undefined {
  if (!isApiError(error, apiCode.storeFailed)) return undefined
  const { message } = error as Error
  if (message.includes('maximum messages')) return 'maxDepth'
  return message.includes('maximum bytes') ? 'maxSize' : undefined
}

/** The servers take no message of this size: it was stored when `max_payload` was larger. */
export function isTooLarge(error: unknown): boolean {
  const { name, message } = error as Error
  return name === 'InvalidArgumentError' && message.includes('max_payload')
}

/** The message cannot be moved to another stream now. The one that it has stays as it is. */
export function hasNoRoom(error: unknown): boolean {
  return limitOf(error) !== undefined || isTooLarge(error)
}

function kindOf(error: unknown, isCut: boolean): QueueFault['is'] {
  const { name, message, cause } = error as Error
  const names = [name, (cause as Error | undefined)?.name]
  if (names.includes('PermissionViolationError') || /permissions violation/i.test(message)) return 'forbidden'
  // The client's words for a request that was in flight when its connection was lost.
  if (names.some((one) => closed.has(one)) || /connection closed/i.test(message)) return 'unreachable'
  if (name === 'TimeoutError') return isCut ? 'unreachable' : 'unled'
  if (name === 'JetStreamNotEnabled') return 'disabled'
  const found = Object.entries(apiKinds).find(([, codes]) => codes.some((code) => isApiError(error, code)))
  return (found?.[0] as QueueFault['is'] | undefined) ?? 'other'
}

const closed: ReadonlySet<string | undefined> = new Set(['ClosedConnectionError', 'DrainingConnectionError'])

const apiKinds = {
  disabled: [apiCode.notEnabled, apiCode.notEnabledForAccount],
  unled: [apiCode.temporarilyUnavailable, apiCode.notLeader],
  storage: [apiCode.storageExceeded, apiCode.accountResourcesExceeded],
  streams: [apiCode.maximumStreams],
  deleted: [apiCode.streamNotFound],
  replicas: [apiCode.replicasNotSupported, apiCode.noPeers],
}
