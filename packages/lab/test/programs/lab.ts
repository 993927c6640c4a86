/**
 * A lab of its own process, for tests that end it: measures the fixture's server against itself, tells on standard output
 * each round that begins, and at the end the result. `COPIES` is where its copies have their folders.
 */
import { bench } from '../../src/bench.ts'
import { stopOnSignal } from '../../src/stop-signal.ts'
import { scenarioOf, serverArm, tiny } from '../support/fixture.ts'

const stop = stopOnSignal()
let round = 0
const result = await bench(scenarioOf([serverArm('other')]), {
  quick: true,
  command: 'test',
  timing: { ...tiny, rounds: 50, maxRounds: 50 },
  resume: process.argv.includes('--resume'),
  rounds: Number(process.argv.at(-1)),
  signal: stop.signal,
  onProgress(progress) {
    if (progress.doing !== 'measure' || progress.round === round) return
    round = progress.round
    console.log(JSON.stringify({ round }))
  },
})
stop.forget()
console.log(JSON.stringify({ result }))
