import type { CountedEdge } from '../../mesh/meter.ts'
import { noStatus } from '../../shared/metrics/edge-table.ts'

/**
 * Counts how a call has ended: `began`: what `edge.begin()` returned. `status`: of the response,
 * once it has begun. `failure`: why it is not complete. The caller itself may have aborted it.
 */
export function endCall(
  edge: CountedEdge,
  began: number | undefined,
  status: number,
  failure: NodeJS.ErrnoException | undefined,
  isAborted: boolean,
): void {
  // A connection would have been refused, so the callee would not have counted the call.
  if (status === noStatus && notTaken.has(failure?.code ?? '')) return edge.withdraw()
  // A response that the caller aborted counts by its status.
  const counts = failure === undefined || isAborted || status >= 500
  edge.end(counts ? status : noStatus, began)
}

/** No instance has taken the call. */
const notTaken: ReadonlySet<string> = new Set(['ECONNREFUSED', 'SERVICE_UNAVAILABLE'])
