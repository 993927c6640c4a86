/**
 * Measures what a call costs on this machine, by where caller and callee run, and prints it as
 * JSON. A process of its own, since the app that asks has other work. It uses the accelerators that
 * `BUSBAR_ACCELERATORS` names.
 */
import type { MeasuredCalls, ProcessorTime } from './app/payload.ts'
import { startApp } from '../embed/start-app.ts'

const placements = { local: 'shared', thread: 'thread', unix: 'process' } as const
const protocols = ['http', 'rpc'] as const
/** Bytes of the responses. The difference is the cost of 16 KiB. */
const sizes = { small: 64, large: 64 + 16 * 1024 }

/** Milliseconds of processor time, with that of the processes of the last app. */
let used = 0
const measured: Record<string, Record<string, object>> = { http: {}, rpc: {} }
for (const [transport, run] of Object.entries(placements)) {
  await using app = await startApp(new URL('./app/', import.meta.url), { run })
  for (const protocol of protocols) {
    const ask = async (bytes: number): Promise<MeasuredCalls> => {
      const response = await fetch(`${app.url}/${protocol}/${bytes}/${run === 'process' ? 'process' : 'thread'}`)
      if (!response.ok) throw new Error(await response.text())
      return (await response.json()) as MeasuredCalls
    }
    measured[protocol]![transport] = costOf(await ask(sizes.small), await ask(sizes.large), run === 'shared')
  }
  for (const { kind, cpuTime } of app.status().workers) if (kind === 'process') used += cpuTime ?? 0
}
const { user, system } = process.cpuUsage()
used += (user + system) / 1000
process.stdout.write(`${JSON.stringify({ ...measured, used })}\n`)

/** Milliseconds, as `PlacementCosts` has them. Noise must not make larger payloads cheaper. */
function costOf(small: MeasuredCalls, large: MeasuredCalls, isOneThread: boolean): object {
  const kib = (sizes.large - sizes.small) / 1024
  const { alone, together } = small
  // In one thread, the caller's time is that of both.
  const [caller, callee] = isOneThread ? [alone.caller / 2, alone.caller / 2] : [alone.caller, alone.callee]
  const cpuOf = (one: ProcessorTime): number => one.caller + (isOneThread ? 0 : one.callee)
  return {
    latency: small.latency,
    caller: caller / 1000,
    callee: callee / 1000,
    batched: Math.min(1, cpuOf(together) / cpuOf(alone)),
    latencyPerKib: Math.max(0, large.latency - small.latency) / kib,
    cpuPerKib: Math.max(0, cpuOf(large.together) - cpuOf(together)) / 1000 / kib,
  }
}
