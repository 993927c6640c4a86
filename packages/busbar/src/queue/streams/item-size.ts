import { BusbarError } from '../../contract/errors.ts'
import type { ItemToAdd } from '../item-queue.ts'
import { tooLarge } from '../messages.ts'
import { headSize } from './item-message.ts'
import type { ItemStreams } from './item-streams.ts'

/** Undefined: the item fits into a message, at each of its stages, or there is no connection. */
export function sizeRefusal(
  { target, input = '' }: ItemToAdd,
  { connection }: Pick<ItemStreams, 'connection'>,
): BusbarError | undefined {
  const most = connection.info?.max_payload
  if (most === undefined) return undefined
  const limit = most - headSize
  if (limit <= 0) return tooSmall(most)
  const size = Buffer.byteLength(input)
  return size > limit ? tooLarge(target, 'input', size, 'bytes', limit) : undefined
}

/** A smaller item fits wherever the queue works, but for a limit hardly above its minimum. */
export function isLarge({ input = '' }: ItemToAdd): boolean {
  return Buffer.byteLength(input) > headSize / 2
}

function tooSmall(maxPayload: number): BusbarError {
  return new BusbarError('QUEUE_UNAVAILABLE', {
    message: `the NATS servers take messages of ${maxPayload} bytes, and an item needs ${headSize} besides its input`,
    hint: 'Raise max_payload of the servers. Its default is 1 MiB.',
  })
}
