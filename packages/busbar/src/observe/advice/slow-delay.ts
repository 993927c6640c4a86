import type { StoredTrace } from '../traces/trace-store.ts'
import { type Hop, waterfallOf } from '../traces/waterfall.ts'
import type { SlowPart } from './slow-part.ts'

/** Of the time of all first calls. Less says nothing. */
const worthSaying = 0.05
/** Of recent traces: each is arranged anew. */
const maxTraces = 200

/**
 * The hop whose calls wait longest before the service's code runs, or are longest under way. Only
 * traces tell that.
 */
export function slowDelay(traces: readonly StoredTrace[]): SlowPart[] {
  const hops = traces.slice(0, maxTraces).flatMap((trace) => waterfallOf(trace))
  const whole = hops.filter(({ depth }) => depth === 0).reduce((sum, { duration }) => sum + duration, 0)
  const found = [...Map.groupBy(hops, nameOf)].map(([what, all]) => {
    const queue = meanOf(all, ({ queue: time }) => time)
    const wire = meanOf(all, ({ wire: time }) => time ?? 0)
    return { what, calls: all.length, queue, wire, mean: meanOf(all, ({ duration }) => duration) }
  })
  const [worst] = found.toSorted((one, other) => delayOf(other) - delayOf(one))
  if (worst === undefined || delayOf(worst) <= whole * worthSaying) return []
  const { what, calls, queue, wire, mean } = worst
  const who = calls === 1 ? `1 call of ${what} waits` : `${calls} calls of ${what} wait`
  const text = `in recent traces, ${who} ${text3(queue)} and ${calls === 1 ? 'is' : 'are'} under way for ${text3(wire)}, of ${text3(mean)} on average`
  return [{ kind: 'delay', what, text, figures: { calls, queue, wire, mean } }]
}

function delayOf({ calls, queue, wire }: { calls: number; queue: number; wire: number }): number {
  return calls * (queue + wire)
}

function nameOf({ caller, service, method, transport }: Hop): string {
  return `${caller ?? '(outside)'} > ${service} ${method}${transport === null ? '' : ` (${transport})`}`
}

function meanOf(hops: readonly Hop[], of: (hop: Hop) => number): number {
  return hops.reduce((sum, hop) => sum + of(hop), 0) / hops.length
}

function text3(value: number): string {
  return `${Number(value.toPrecision(3))} ms`
}
