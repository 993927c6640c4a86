/** What fails while servers elect a leader is repeated. */
import { setTimeout as sleep } from 'node:timers/promises'
import { apiCode, isApiError } from '../../shared/cluster/jetstream.ts'
import type { ItemStreams } from './item-streams.ts'

/** Milliseconds that an item waits for a server that leads the stream. */
const electionLimit = 10_000
/** Milliseconds between two attempts. */
const electionPause = 200

/** While servers elect a leader nobody has the request, so it can be repeated. */
export async function whenLed<T>(streams: ItemStreams, publish: () => Promise<T>): Promise<T> {
  try {
    return await repeat(publish, isWithoutLeader, electionLimit)
  } catch (error) {
    if (!isWithoutLeader(error)) throw error
    throw new Error(await whyUnled(streams), { cause: error })
  }
}

/** The client says the same of a stream without a leader and of servers without JetStream. */
async function whyUnled({ reader }: ItemStreams): Promise<string> {
  try {
    await reader.getAccountInfo()
    return 'no server leads the stream of the queue'
  } catch (error) {
    const { name, message } = error as Error
    return name === 'TimeoutError' ? 'JetStream does not answer: it has no leader, or was disabled' : message
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
