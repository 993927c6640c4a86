import { BusbarError, type ErrorCode } from '../contract/errors.ts'
import { decodeJson } from '../contract/value/decode.ts'
import { isVersionRefusal } from '../mesh/routing/balance/instance-fit.ts'
import type { QueueCalls } from '../mesh/typed/queue-calls.ts'
import type { MethodQueueSettings, QueuePlace } from '../shared/queues.ts'
import { type ItemAttempt, type Reason, splitTarget } from './item-queue.ts'

/** How an attempt has ended. */
export type Outcome = { readonly is: 'done' } | Failed

export interface Failed {
  readonly is: 'failed'
  readonly why: Reason
  /** Another attempt would end in the same way. */
  readonly final: boolean
  /** No instance has begun with it: those with its contract have ended while it waited. */
  readonly isRefusal?: boolean
}

/** Errors that the method itself has not caused, or means for good. */
const finalCodes: ReadonlySet<string> = new Set<ErrorCode>([
  'INPUT_INVALID',
  'METHOD_UNKNOWN',
  'SERVICE_UNKNOWN',
  'CONTRACT_MISMATCH',
  'UNAUTHENTICATED',
  'FORBIDDEN',
  'OPERATION_UNSUPPORTED',
])

/** Another host may have another version of the service, and get the item next. */
const versionCodes: ReadonlySet<string> = new Set<ErrorCode>(['METHOD_UNKNOWN', 'CONTRACT_MISMATCH', 'INPUT_INVALID'])

/** Characters of a reason that are kept. */
const maxReason = 1_000

/** One attempt. Never rejects. */
export async function runItem(
  { target, id, attempt, added, input, origin: { caller, trace, metadata, contract } }: ItemAttempt,
  calls: QueueCalls,
  { timeout }: MethodQueueSettings,
  place: QueuePlace['is'],
): Promise<Outcome> {
  const [service, method] = splitTarget(target)
  const delivery = { id, attempt, enqueuedAt: added }
  try {
    const value = input === null ? undefined : decodeJson(input)
    const mustFit = place === 'streams'
    await calls.call({ service, method, input: value, caller, trace, metadata, contract, mustFit, delivery, timeout })
    return { is: 'done' }
  } catch (thrown) {
    const { code, message, declared } = isOurs(thrown) ? thrown : BusbarError.from(thrown)
    const why = { code, message: message.slice(0, maxReason) }
    const final = declared || (finalCodes.has(code) && !(place === 'streams' && versionCodes.has(code)))
    return { is: 'failed', why, final, isRefusal: isVersionRefusal(thrown) }
  }
}

/** Codes that a contract declares are not in the table, so `BusbarError.is` does not know them. */
function isOurs(thrown: unknown): thrown is BusbarError<string> {
  return thrown instanceof Error && thrown.name === 'BusbarError'
}

/** Milliseconds before the next attempt, with some chance, so that many do not come at once. */
export function delayAfter(attempt: number, { backoff, maxBackoff }: MethodQueueSettings): number {
  const full = Math.min(maxBackoff, backoff * 2 ** (attempt - 1))
  return Math.round(full * (0.5 + Math.random() / 2))
}
