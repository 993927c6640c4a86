import { stateOf } from '../shared/traces/span.ts'
import type { ItemOrigin } from './item-queue.ts'
import { tooLarge } from './messages.ts'

/**
 * Bytes of the metadata of an item, as JSON. A message of a cluster has room for it besides the
 * input. A file has the same limit, because its items may move to a cluster.
 */
export const maxMetadata = 8 * 1024

/**
 * What a queue keeps of who has enqueued an item. Throws if its metadata is too large. Nobody has
 * to pass a long `tracestate` on (W3C Trace Context, 3.3.1.5).
 */
export function boundedOrigin(target: string, { caller, trace, metadata, contract }: ItemOrigin): ItemOrigin {
  const size = metadata === undefined ? 0 : Buffer.byteLength(JSON.stringify(metadata))
  if (size > maxMetadata) throw tooLarge(target, 'metadata', size, 'bytes', maxMetadata)
  const kept = trace && { traceparent: trace.traceparent, ...stateOf(trace.tracestate) }
  return { caller, trace: kept, metadata, contract }
}
