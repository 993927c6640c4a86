/** What the lists of all hosts say of attempts that have begun. */
import { isApiError, apiCode, type JetStreamManager, type StoredMsg } from '../../../shared/cluster/jetstream.ts'
import type { ItemStreams } from '../item-streams.ts'

/** A delivery of a message of the stream `ready`. */
export interface BegunDelivery {
  /** The number of the message. A stream that is made anew counts from 1 again. */
  readonly seq: number
  /** When its item was enqueued, which tells such messages apart. */
  readonly added: number
  /** The number of the delivery, from 1. */
  readonly count: number
}

/** As a list holds it. `isHeld`: its host brings the outcome, if it lives. */
export type Listed = readonly [seq: number, added: number, count: number, isHeld: 0 | 1]

export interface BegunCount {
  readonly begun: number
  /**
   * The number in the stream `begun` of the last list whose host brings an outcome. Lists are
   * repeated, so this grows while that host lives. 0: none does.
   */
  readonly saidAt: number
}

/** Lists that are read at a time. */
const atOnce = 50

export function keyOf({ seq, added }: Pick<BegunDelivery, 'seq' | 'added'>): string {
  return `${seq} ${added}`
}

export function encodeList(list: readonly Listed[]): Uint8Array {
  return Buffer.from(JSON.stringify(list))
}

/** By {@link keyOf}. */
export async function countAll(
  manager: JetStreamManager,
  streams: ItemStreams,
): Promise<ReadonlyMap<string, BegunCount>> {
  const name = streams.nameOf('begun')
  const { state } = await manager.streams.info(name, { subjects_filter: '>' })
  const subjects = currentOf(Object.keys(state.subjects ?? {}))
  const counts = new Map<string, BegunCount>()
  for (let at = 0; at < subjects.length; at += atOnce) {
    const some = subjects.slice(at, at + atOnce)
    for (const message of await Promise.all(some.map((subject) => lastOf(manager, name, subject))))
      if (message !== undefined) countList(message, counts)
  }
  return counts
}

/** Of each host, the list of its last connection. */
function currentOf(subjects: readonly string[]): string[] {
  const current = new Map<string, { subject: string; number: number }>()
  for (const subject of subjects) {
    const [host, text] = subject.split('.').slice(-2) as [string, string]
    const number = Number(text)
    if (number > (current.get(host)?.number ?? 0)) current.set(host, { subject, number })
  }
  return Array.from(current.values(), ({ subject }) => subject)
}

/** Its host may have deleted it meanwhile. */
async function lastOf(manager: JetStreamManager, stream: string, subject: string): Promise<StoredMsg | undefined> {
  try {
    return (await manager.streams.getMessage(stream, { last_by_subj: subject })) ?? undefined
  } catch (error) {
    if (isApiError(error, apiCode.noMessage)) return undefined
    throw error
  }
}

function countList(message: StoredMsg, counts: Map<string, BegunCount>): void {
  for (const [seq, added, , isHeld] of listedIn(message)) {
    const key = keyOf({ seq, added })
    const { begun, saidAt } = counts.get(key) ?? { begun: 0, saidAt: 0 }
    counts.set(key, { begun: begun + 1, saidAt: isHeld === 1 ? Math.max(saidAt, message.seq) : saidAt })
  }
}

/** Every member of the cluster may publish anything. */
function listedIn(message: StoredMsg): Listed[] {
  try {
    const list: unknown = JSON.parse(Buffer.from(message.data).toString())
    return Array.isArray(list) ? list.filter((entry): entry is Listed => Array.isArray(entry)) : []
  } catch {
    return []
  }
}
