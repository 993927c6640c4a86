/**
 * `npm run fuzz -- --count 100000 --seed 1`: fuzzes requests, responses of services, and requests
 * to typed services. `--kind` and `--from` repeat a part of a run.
 */
import { parseArgs } from 'node:util'
import { fuzz, type FuzzKind } from './fuzz.ts'

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '100000' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 31)) },
    from: { type: 'string', default: '0' },
    kind: { type: 'string', default: 'requests,answers,typed' },
  },
})

for (const kind of values.kind.split(',') as FuzzKind[]) {
  const began = performance.now()
  const [count, seed, from] = [Number(values.count), Number(values.seed), Number(values.from)]
  console.log(`${count} ${kind}, seed ${seed}`)
  const statuses = await fuzz({ kind, count, seed, from, onBatch: (done) => done % 5000 === 0 && console.log(done) })
  const seconds = Math.round((performance.now() - began) / 1000)
  const parts = [...statuses].sort(([one], [other]) => (one < other ? -1 : 1))
  console.log(`${kind}: ${seconds} s; ${parts.map(([status, times]) => `${status}: ${times}`).join(', ')}`)
}
