/** What a call costs on this machine, by protocol and by where caller and callee run. */
import * as z from 'zod'

/** Milliseconds per call. */
const callCost = z.object({
  latency: z.number().nonnegative().meta({ description: 'of one call at a time' }),
  caller: z.number().nonnegative().meta({ description: 'processor time of the caller' }),
  callee: z.number().nonnegative().meta({ description: 'processor time of the callee' }),
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

export type CallCost = z.output<typeof callCost>
export type CostTable = z.output<typeof costTable>
export type PlacementCosts = z.output<typeof placementCosts>
export type MeasuredTransport = keyof CostTable['http']

/**
 * Of one call that carries so many bytes. Calls to commands and to other apps use sockets too, so
 * they count like those between processes.
 */
export function costOfCall(
  costs: CostTable,
  { protocol, transport, bytes }: { protocol: 'http' | 'rpc'; transport: string; bytes: number },
): Pick<CallCost, 'latency' | 'caller' | 'callee'> {
  const of = costs[protocol]
  const { latency, caller, callee, latencyPerKib, cpuPerKib } =
    transport === 'local' ? of.local : transport === 'thread' ? of.thread : of.unix
  const kib = bytes / 1024
  const more = (cpuPerKib * kib) / 2
  return { latency: latency + latencyPerKib * kib, caller: caller + more, callee: callee + more }
}
