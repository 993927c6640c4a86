/**
 * How many items of a queue are enqueued and run per second, with an fsync before each answer, and
 * how that compares with direct calls between the same two threads. Each row is the median of five.
 *
 *     node --conditions=busbar-source packages/busbar/bench/queue.ts
 */
import { rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { startApp } from '../src/embed/start-app.ts'
import { driver } from './queue-app/driver/contract.ts'

const folder = fileURLToPath(new URL('queue-app', import.meta.url))
const rounds = 5

await using app = await startApp(folder)
const { run } = app.client(driver)
for (const [how, lanes, count] of [
  ['enqueue', 1, 200],
  ['enqueue', 16, 2_000],
  ['enqueue', 256, 5_000],
  ['call', 1, 2_000],
  ['call', 16, 20_000],
  ['call', 256, 20_000],
] as const) {
  const times: { readonly answered: number; readonly ran: number }[] = []
  for (let round = 0; round < rounds; round++) times.push(await run({ how, lanes, count }))
  const median = (of: 'answered' | 'ran'): number =>
    Math.round((1000 * count) / times.map((one) => one[of]).toSorted((a, b) => a - b)[rounds >> 1]!)
  console.log(`${how}, ${lanes} at a time: ${median('answered')} answered, ${median('ran')} run per second`)
}
rmSync(new URL('queue-app/.queue', import.meta.url), { recursive: true, force: true })
