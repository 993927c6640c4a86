/**
 * A lab in a process, for tests that stop it. It compares the fixture's server with itself, or with
 * `--hosts` an arm of `fanout` that has several commands. It prints each round that begins, and the
 * result.
 */
import type { Arm } from '../../src/arm.ts'
import { bench } from '../../src/bench.ts'
import { stopOnSignal } from '../../src/cli/command.ts'
import { fanout } from '../../src/scenarios/fanout.ts'
import type { Scenario } from '../../src/scenarios/scenario.ts'
import { scenarioOf, serverArm, tiny } from '../support/fixture.ts'
import { linkPackagesOf } from '../support/repository-packages.ts'

const stop = stopOnSignal()
let round = 0
const result = await bench(process.argv.includes('--hosts') ? fanoutOverNats() : withStragglers(), {
  quick: true,
  command: 'test',
  timing: { ...tiny, rounds: 50, maxRounds: 50 },
  resume: process.argv.includes('--resume'),
  rounds: Number(process.argv.at(-1)),
  signal: stop.signal,
  onProgress(progress) {
    if (progress.activity !== 'measure' || progress.round === round) return
    round = progress.round
    console.log(JSON.stringify({ round }))
  },
})
stop.release()
console.log(JSON.stringify({ result }))

function withStragglers(): Scenario {
  return scenarioOf([withStraggler(serverArm('other'))])
}

/** Its baseline has one process. */
function fanoutOverNats(): Scenario {
  const arm = fanout.arms.find(({ name }) => name === 'busbar-hosts-nats-typed')!
  linkPackagesOf(arm)
  return { ...fanout, baseline: 'direct', quick: { arms: [arm.name] } }
}

/** Adds a process that leaves the process group, as jobs of an interactive shell do. */
function withStraggler(arm: Arm): Arm {
  return {
    ...arm,
    launch(place) {
      const launch = arm.launch(place)
      return { ...launch, command: ['sh', '-c', 'set -m; sleep 600 & exec "$@"', 'sh', ...launch.command] }
    },
  }
}
