/**
 * Reloads, scalings and moves of an app under load:
 * `node scripts/operations/changes.ts [--changes 20] [--share 0.3] [--json <file>]`
 *
 * The load is a share of what the app can answer: half of it on kept connections, half with a
 * connection for each request, and 16 WebSockets that echo a sequence. Each change is measured in a
 * window a little longer than the same change took once before. Ends with 1 if a request fails, a
 * message is lost, or a WebSocket is closed with another code than 1012. Build first, with cargo.
 */
import { writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import type { StartedApp } from '../started-app.ts'
import { startMeasuredApp } from './app.ts'
import { capacityOf, Seen, sendFor } from './engine-load.ts'
import { Sequence } from './load.ts'

const { values } = parseArgs({
  options: {
    changes: { type: 'string', default: '20' },
    share: { type: 'string', default: '0.3' },
    json: { type: 'string' },
  },
})
const [changes, share] = [values.changes, values.share].map(Number) as [number, number]

interface Row {
  readonly phase: string
  readonly requests: number
  readonly p50: number
  readonly p99: number
  readonly longest: number
  readonly failures: Readonly<Record<string, number>>
  /** The close codes that WebSockets have seen. */
  readonly codes: Readonly<Record<string, number>>
  readonly lost: number
}

const kinds: Readonly<Record<string, (app: StartedApp, time: number) => Promise<unknown>>> = {
  reload: (app) => app.ask('POST', '/reload', {}),
  scale: (app, time) => app.ask('POST', '/services/web/scale', { instances: time % 2 === 0 ? 2 : 1 }),
  move: (app, time) =>
    app.ask('POST', '/services/web/move', { run: (['process', 'shared', 'thread'] as const)[time % 3] }),
}

/** Milliseconds; longer than any change takes. */
const longest = 6000

/** How many different changes of a kind follow each other. */
const cycle = { reload: 1, scale: 2, move: 3 } as Readonly<Record<string, number>>

await using app = await startMeasuredApp({ run: 'thread' }, { run: 'thread' })
const { port } = app
await capacityOf(port, 2)
const capacity = await capacityOf(port, 3)
const perSecond = capacity * share
const sequences = Array.from({ length: 16 }, () => new Sequence(port, 20))
const rows: Row[] = []

await sendFor(port, 2000, perSecond, new Seen())
const before = new Seen()
await sendFor(port, 5000, perSecond, before)
record('before', before)
for (const [kind, change] of Object.entries(kinds)) {
  const windows: number[] = []
  for (let time = 0; time < cycle[kind]!; time++)
    windows.push(await timed(() => change(app, time), longest, new Seen()))
  const seen = new Seen()
  for (let time = 0; time < changes; time++) {
    const window = windows[time % windows.length]! * 2 + 500
    const took = await timed(() => change(app, time + windows.length), window, seen)
    if (took > window) console.warn(`${kind} ${time} took ${Math.round(took)} ms, longer than its window`)
  }
  record(kind, seen)
}
await Promise.all(sequences.map((sequence) => sequence.stop()))

const shown = rows.map(({ failures, codes, ...row }) => ({
  ...row,
  failures: JSON.stringify(failures),
  codes: JSON.stringify(codes),
}))
console.log(`capacity ${Math.round(capacity)} requests a second, load ${Math.round(perSecond)}`)
console.table(shown)
if (values.json !== undefined) writeFileSync(values.json, JSON.stringify({ capacity, load: perSecond, rows }))
const isWrong = rows.some(
  ({ failures, codes, lost }) =>
    Object.keys(failures).length > 0 || Object.keys(codes).some((code) => code !== '1012') || lost > 0,
)
process.exitCode = isWrong ? 1 : 0

function record(phase: string, seen: Seen): void {
  const { requests, failures } = seen
  const [p50, p99, longest] = [0.5, 0.99, 1].map((share) => rounded(seen.quantile(share))) as [number, number, number]
  const codes = counted(sequences.flatMap((one) => one.codes.splice(0).map(String)))
  const lost = sequences.reduce((sum, { faults }) => sum + faults.splice(0).length, 0)
  rows.push({ phase, requests, p50, p99, longest, failures, codes, lost })
}

/** Milliseconds that `work` takes under a load that lasts for `window` milliseconds. */
async function timed(work: () => Promise<unknown>, window: number, seen: Seen): Promise<number> {
  const sent = sendFor(port, window, perSecond, seen)
  const began = performance.now()
  await sleep(50)
  await work()
  const took = performance.now() - began
  await sent
  return took
}

function counted(all: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const one of all) counts[one] = (counts[one] ?? 0) + 1
  return counts
}

function rounded(milliseconds: number): number {
  return Math.round(milliseconds * 10) / 10
}
