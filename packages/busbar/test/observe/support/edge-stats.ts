import type { EdgeStats } from '../../../src/observe/app-status.ts'

/** An edge with two calls of each of three statuses: of a worker, and of none. */
export function edgeStats(parts: Pick<EdgeStats, 'caller' | 'callee' | 'protocol' | 'method' | 'route'>): EdgeStats {
  const caller = parts.caller === '' ? null : 0
  const part = { caller, count: 1, timed: 1, sum: 100, buckets: [{ le: null, count: 1 }] }
  const workers = [
    { ...part, callee: 1 },
    { ...part, callee: null },
  ]
  const calls = { count: 2, timed: 2, sum: 200, buckets: [{ le: null, count: 2 }], workers }
  const outcomes = ['200', '503', 'none'].map((code) => ({ status: code, ...calls }))
  const totals = { inFlight: 1, calls: 6, failures: 4, retries: 2, callsPerSecond: 1, p50: 1, p99: 2 }
  return { ...parts, ...totals, transport: 'local', outcomes }
}
