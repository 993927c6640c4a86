/** What a call costs on this machine, by protocol and by where caller and callee run. */
import * as z from 'zod'

/** Milliseconds per call. */
const callCost = z.object({
  latency: z.number().nonnegative().meta({ description: 'of one call at a time' }),
  caller: z.number().nonnegative().meta({ description: 'processor time of the caller, of one call at a time' }),
  callee: z.number().nonnegative().meta({ description: 'the same of the callee' }),
  batched: z.number().min(0).max(1).meta({ description: 'the share of both with four calls at a time' }),
  latencyPerKib: z.number().nonnegative().meta({ description: 'more for each KiB of the response' }),
  cpuPerKib: z.number().nonnegative().meta({ description: 'processor time of both for each KiB of the response' }),
})

const byTransport = z.object({ local: callCost, thread: callCost, unix: callCost })

/** As the calibration prints it. */
export const costTable = z.object({ http: byTransport, rpc: byTransport })

export const placementCosts = costTable.extend({
  measuredAt: z.number().meta({ description: 'milliseconds since 1970' }),
  others: z
    .number()
    .nonnegative()
    .meta({ description: 'processors that other processes used meanwhile: more make calls seem more expensive' }),
  machine: z.string().meta({ description: 'the processor' }),
  node: z.string().meta({ description: 'the version of Node' }),
})

/** Processors of others, beyond which a measurement of costs is not trusted. */
export const busyMachine = 0.25

export type CallCost = z.output<typeof callCost>
export type CostTable = z.output<typeof costTable>
export type PlacementCosts = z.output<typeof placementCosts>
export type MeasuredTransport = keyof CostTable['http']

/** Calls of one service to another one. */
export interface CostedCalls {
  readonly protocol: 'http' | 'rpc'
  readonly transport: string
  /** On average, of request and response. */
  readonly bytes: number
  /** Per second. */
  readonly rate: number
  /** How many one request makes at the same time, at least 1. */
  readonly together: number
}

/**
 * Of one call. Calls to commands and to other apps use sockets too, so they count like those
 * between processes.
 */
export function costOfCall(costs: CostTable, calls: CostedCalls): Pick<CallCost, 'latency' | 'caller' | 'callee'> {
  const { protocol, transport, bytes } = calls
  const of = costs[protocol]
  const cost = transport === 'local' ? of.local : transport === 'thread' ? of.thread : of.unix
  const { latency, caller, callee, latencyPerKib, cpuPerKib } = cost
  const kib = bytes / 1024
  const more = (cpuPerKib * kib) / 2
  const share = shareOf(cost, calls)
  return { latency: latency + latencyPerKib * kib, caller: caller * share + more, callee: callee * share + more }
}

/** Calls at a time of the measurement of `batched`. */
const measuredTogether = 4

/**
 * Of the processor time of a call that is alone. Calls that are on their way at the same time share
 * what each wake-up of a worker costs, which is most of it: between two threads, a call by `fetch`
 * took 280 µs of both alone, 160 µs of two, and 120 µs of four. How many there are follows from
 * their rate and their latency (Little's law).
 */
function shareOf({ latency, batched }: CallCost, { rate, together }: CostedCalls): number {
  const count = Math.min(measuredTogether, Math.max(1, together, (rate * latency) / 1000))
  return 1 - ((1 - batched) * (1 - 1 / count)) / (1 - 1 / measuredTogether)
}
