/**
 * A lab of its own process, for tests that end it: measures the fixture's server against itself, tells on standard output
 * each round that begins, and at the end the result.
 */
import type { Arm } from '../../src/arm.ts'
import { bench } from '../../src/bench.ts'
import { stopOnSignal } from '../../src/stop-signal.ts'
import { scenarioOf, serverArm, tiny } from '../support/fixture.ts'

const stop = stopOnSignal()
let round = 0
const result = await bench(scenarioOf([withStraggler(serverArm('other'))]), {
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

/** Beside it runs what has left its process group, as the jobs of an interactive shell do. */
function withStraggler(arm: Arm): Arm {
  return {
    ...arm,
    launch(place) {
      const launch = arm.launch(place)
      return { ...launch, command: ['sh', '-c', 'set -m; sleep 600 & exec "$@"', 'sh', ...launch.command] }
    },
  }
}
