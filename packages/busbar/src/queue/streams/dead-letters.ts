import { BusbarError } from '../../contract/errors.ts'
import { apiCode, isApiError, type StoredMsg } from '../../shared/cluster/jetstream.ts'
import type { DeadLetter, QueueChange } from '../../shared/queues.ts'
import { splitTarget } from '../item-queue.ts'
import { full } from '../messages.ts'
import { decodeDeadLetter, encodeItem } from './item-message.ts'
import type { ItemStreams } from './item-streams.ts'
import { isTooLarge, limitOf } from './queue-faults.ts'

/** Messages that are read at a time. */
const atOnce = 50
/** Reasons that an answer names. */
const mostReasons = 20

/** The latest first. The number of a dead letter is that of its message. */
export async function listDeadLetters(streams: ItemStreams, limit: number): Promise<DeadLetter[]> {
  const numbers = (await numbersOf(streams)).toReversed().slice(0, limit)
  const found: DeadLetter[] = []
  for (let at = 0; at < numbers.length; at += atOnce) {
    const messages = await Promise.all(numbers.slice(at, at + atOnce).map((number) => read(streams, number)))
    for (const message of messages) if (message !== undefined) found.push(...toDeadLetter(message, streams))
  }
  return found
}

/**
 * `number` null: all. Those that cannot be put back are left, and the others are put back even so.
 * Their attempts begin anew.
 */
export async function retryDeadLetters(streams: ItemStreams, number: number | null): Promise<QueueChange> {
  if (number !== null) return { count: (await retry(streams, number)) ? 1 : 0, left: 0, reasons: [] }
  let [count, left] = [0, 0]
  const reasons: { number: number; message: string }[] = []
  for (const one of await numbersOf(streams)) {
    try {
      if (await retry(streams, one)) count++
    } catch (error) {
      if (!BusbarError.is(error)) throw error
      if (++left <= mostReasons) reasons.push({ number: one, message: error.message })
    }
  }
  return { count, left, reasons }
}

/** False: there is none. Throws a BusbarError if this one cannot be put back, and others may. */
async function retry(streams: ItemStreams, number: number): Promise<boolean> {
  const message = await read(streams, number)
  const letter = message && decodeDeadLetter(message.data)
  if (message === undefined || letter === undefined) return false
  const { id, added, origin, input } = letter
  if (origin === undefined) throw notPutBack(number, 'its input and metadata were too large for NATS', again(number))
  const item = encodeItem({ id, added, origin, input, due: 0, attempts: 0 })
  const msgID = `${streams.nameOf('dead')} ${number} ${added}`
  const target = streams.targetOf(message.subject)
  try {
    await streams.publish('ready', target, item, { msgID })
  } catch (error) {
    if (isTooLarge(error)) throw notPutBack(number, `it has ${item.length} bytes, more than max_payload of NATS`, raise)
    const limit = limitOf(error)
    throw limit === undefined ? error : full(target, `queues.${limit} is reached`)
  }
  return await remove(streams, number)
}

/** `number` null: all. */
export async function dropDeadLetters(streams: ItemStreams, number: number | null): Promise<QueueChange> {
  const dropped = async (): Promise<number> => {
    if (number !== null) return (await remove(streams, number)) ? 1 : 0
    return (await streams.manager.streams.purge(streams.nameOf('dead'))).purged
  }
  return { count: await dropped(), left: 0, reasons: [] }
}

function notPutBack(number: number, why: string, hint: string): BusbarError {
  return new BusbarError('OPERATION_UNSUPPORTED', { message: `dead letter ${number} cannot be put back: ${why}`, hint })
}

function again(number: number): string {
  return `Enqueue the item again, where it came from, and delete this one: busbar queue drop ${number}.`
}

const raise = 'It is kept whole. Raise max_payload of the NATS servers, and retry it ten seconds later.'

async function numbersOf(streams: ItemStreams): Promise<number[]> {
  const { state } = await streams.reader.streams.info(streams.nameOf('dead'), { deleted_details: true })
  const { first_seq, last_seq, messages, num_deleted, deleted } = state
  if (messages === 0) return []
  const gone = new Set(num_deleted > 0 ? deleted : [])
  const numbers: number[] = []
  for (let number = first_seq; number <= last_seq; number++) if (!gone.has(number)) numbers.push(number)
  return numbers
}

async function read(streams: ItemStreams, seq: number): Promise<StoredMsg | undefined> {
  try {
    return (await streams.manager.streams.getMessage(streams.nameOf('dead'), { seq })) ?? undefined
  } catch (error) {
    if (isApiError(error, apiCode.noMessage)) return undefined
    throw error
  }
}

async function remove(streams: ItemStreams, number: number): Promise<boolean> {
  try {
    return await streams.manager.streams.deleteMessage(streams.nameOf('dead'), number)
  } catch (error) {
    if (noSuchMessage.some((code) => isApiError(error, code))) return false
    throw error
  }
}

/** Of a message that another host has deleted, or that has never been. */
const noSuchMessage = [apiCode.noMessage, apiCode.sequenceNotFound, apiCode.deleteFailed]

function toDeadLetter({ seq: number, data, subject }: StoredMsg, streams: ItemStreams): DeadLetter[] {
  const letter = decodeDeadLetter(data)
  if (letter === undefined) return []
  const { id, attempts, added: enqueuedAt, diedAt, why, input } = letter
  const [service, method] = splitTarget(streams.targetOf(subject))
  return [{ number, id, service, method, attempts, enqueuedAt, diedAt, ...why, input }]
}
