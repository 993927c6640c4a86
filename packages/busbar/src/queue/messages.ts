/** What both kinds of queues say. */
import { BusbarError } from '../contract/errors.ts'
import type { ItemAttempt, Reason } from './item-queue.ts'

export function full(target: string, why: string): BusbarError {
  return new BusbarError('QUEUE_FULL', { message: `${target} cannot be enqueued: the queue is full: ${why}` })
}

export function closed(): BusbarError {
  return new BusbarError('QUEUE_UNAVAILABLE', { message: 'the queue of the app is stopping' })
}

/** It cannot be opened. */
export function unusable(file: string, cause: unknown): BusbarError {
  const isFull = (cause as { errcode?: unknown }).errcode === diskFull
  return new BusbarError('QUEUE_UNAVAILABLE', {
    message: `the queue's file ${file} cannot be used: ${(cause as Error).message}`,
    hint: isFull
      ? 'Make room on the disk of this file. The items in it are kept.'
      : 'Set queues.file to a place that this user can write, on a disk of this machine.',
    cause,
  })
}

/** SQLite's code. */
const diskFull = 13

export function unwritable(file: string, cause: unknown): BusbarError {
  const message = `the queue's file ${file} cannot be written: ${(cause as Error).message}`
  return new BusbarError('QUEUE_UNAVAILABLE', { message, cause })
}

/** `file` has another identity than when it was opened. */
export function deleted(file: string): BusbarError {
  return new BusbarError('QUEUE_UNAVAILABLE', {
    message: `the queue's file ${file} was deleted or replaced while it is open, so new items would be lost when the app ends`,
    hint: 'Restart the app when the items that wait have run.',
  })
}

/** A part of an item is too large: an INPUT_INVALID. */
export function tooLarge(
  target: string,
  part: 'input' | 'metadata',
  size: number,
  unit: 'bytes' | 'characters',
  limit: number,
): BusbarError {
  const message = `it has ${size} ${unit} as JSON, and an item may have ${limit}: store it elsewhere`
  return new BusbarError('INPUT_INVALID', {
    message: `an item of ${target} is refused: ${part}: ${message}`,
    data: { issues: [{ path: [part], message }] },
  })
}

export function failedText({ target, id, attempt }: Attempted, delay: number, { code, message }: Reason): string {
  return `queue ${target}: attempt ${attempt} at ${id} has failed, the next one is in ${delay} ms: ${code}: ${message}`
}

/** `number`: of the dead letter. */
export function buriedText({ target, attempt }: Attempted, number: number, { code, message }: Reason): string {
  const count = attempt === 1 ? '1 attempt' : `${attempt} attempts`
  return `queue ${target}: item ${number} is a dead letter after ${count}: ${code}: ${message}`
}

type Attempted = Pick<ItemAttempt, 'target' | 'attempt'> & { readonly id?: string }
