/** What fails while servers elect a leader is repeated. */
import { setTimeout as sleep } from 'node:timers/promises'
import { apiCode, isApiError } from '../../shared/cluster/jetstream.ts'
import type { ItemStreams } from './item-streams.ts'
import type { QueueStream } from './stream-settings.ts'

/** Milliseconds that an item waits for a server that leads the stream. */
const electionLimit = 10_000
/** Milliseconds between two attempts. */
const electionPause = 200

/** While servers elect a leader nobody has the request, so it can be repeated. */
export function whenLed<T>(streams: ItemStreams, stream: QueueStream, publish: () => Promise<T>): Promise<T> {
  return explained(streams, stream, () => repeat(publish, isWithoutLeader, electionLimit))
}

/**
 * The client says of a stream that is gone, and of one without a leader, that the servers have no
 * JetStream. The error that is thrown says what it is.
 */
export async function explained<T>(streams: ItemStreams, stream: QueueStream, publish: () => Promise<T>): Promise<T> {
  try {
    return await publish()
  } catch (error) {
    if (!isWithoutLeader(error)) throw error
    throw await whyUnanswered(streams, stream, error)
  }
}

async function whyUnanswered(streams: ItemStreams, stream: QueueStream, cause: unknown): Promise<unknown> {
  try {
    await streams.reader.streams.info(streams.nameOf(stream))
    return new Error('no server leads the stream of the queue', { cause })
  } catch (error) {
    if ((error as Error).name !== 'TimeoutError') return error
    return new Error('JetStream does not answer: it has no leader, or was disabled', { cause })
  }
}

/** For what can be repeated. `limit`: milliseconds. */
export function whenAnswered<T>(look: () => Promise<T>, limit: number): Promise<T> {
  return repeat(look, isElection, limit)
}

/** Until it succeeds, fails by something else, or `limit` milliseconds have passed. */
async function repeat<T>(work: () => Promise<T>, mayRepeat: (error: unknown) => boolean, limit: number): Promise<T> {
  for (const over = performance.now() + limit; ; await sleep(electionPause))
    try {
      return await work()
    } catch (error) {
      if (!mayRepeat(error) || performance.now() > over) throw error
    }
}

/** The client takes a stream without a leader for a server without JetStream. */
function isWithoutLeader(error: unknown): boolean {
  const { cause } = error as { cause?: { isNoResponders?: () => boolean } }
  return cause?.isNoResponders?.() === true
}

function isElection(error: unknown): boolean {
  return (error as Error).name === 'TimeoutError' || isApiError(error, apiCode.temporarilyUnavailable)
}
