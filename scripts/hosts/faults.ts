/**
 * Random faults on the links of three hosts, and a check of what their callers have seen:
 * `node scripts/hosts/faults.ts --seed 1 --seconds 60 [--over tcp,nats]`
 *
 * Links are cut, frozen, delayed, throttled and left half-open, hosts are killed, and the NATS
 * server (`nats-server` must be installed) is restarted. Ends with 1 if a call hangs, gets another
 * call's answer, is carried out twice though it is not idempotent, if a stream has a gap, or if an
 * item that was enqueued never runs.
 */
import { parseArgs } from 'node:util'
import { faultRun } from '../../packages/busbar/test/hosts/support/fault-run/fault-run.ts'
import { natsWorld, tcpWorld } from '../../packages/busbar/test/hosts/support/fault-run/worlds.ts'
import { SeededRandom } from '../../packages/busbar/test/support/seeded-random.ts'

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    seconds: { type: 'string', default: '60' },
    over: { type: 'string', default: 'tcp,nats' },
  },
})

for (const over of values.over.split(',')) {
  await using world = await (over === 'nats' ? natsWorld() : tcpWorld())
  const { history, deeds, faults, growth } = await faultRun({
    world,
    random: new SeededRandom(Number(values.seed)),
    seconds: Number(values.seconds),
  })
  console.log(
    JSON.stringify({
      over,
      seed: values.seed,
      calls: history.operations.length,
      items: world.queue?.accepted,
      deeds,
      growth,
    }),
  )
  console.log(JSON.stringify(history.counts))
  for (const fault of faults.slice(0, 50)) console.log(`wrong: ${fault}`)
  if (faults.length > 0) process.exitCode = 1
}
