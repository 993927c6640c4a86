/** Random faults, a few seconds of them. `scripts/hosts/faults.ts` goes on for longer. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { withoutNats } from '../cluster/support/nats-server.ts'
import { SeededRandom } from '../support/seeded-random.ts'
import { faultRun, type FaultRunResult } from './support/fault-run/fault-run.ts'
import { History } from './support/fault-run/history.ts'
import { natsWorld, tcpWorld, type World } from './support/fault-run/worlds.ts'

async function run(open: () => Promise<World>, seed: number): Promise<FaultRunResult> {
  await using world = await open()
  return await faultRun({ world, random: new SeededRandom(seed), seconds: 6 })
}

describe('three hosts under random faults', () => {
  for (const [name, open, skip] of [
    ['TCP', tcpWorld, false],
    ['NATS', natsWorld, withoutNats],
  ] as const)
    it(`lose no answer without an error, and carry nothing out twice, over ${name}`, { skip }, async () => {
      const { faults, history, deeds } = await run(open, 1)
      assert.deepEqual(faults, [], JSON.stringify(deeds))
      assert.ok(history.operations.length > 100)
      assert.ok(history.operations.some(({ outcome }) => outcome?.is === 'failed'))
    })
})

describe('the check of a history', () => {
  const check = (method: 'read' | 'write', runs: string[], at = 'a', input?: string): string[] => {
    const history = new History()
    const operation = history.begin(method)
    history.end(operation, { is: 'answered', at, input: input ?? operation.id })
    return history.faults(
      runs.map((host) => ({ id: operation.id, host })),
      1_000,
    )
  }

  it('finds a second execution, an answer of another call, and an answer of nobody', () => {
    assert.deepEqual(check('write', ['a']), [])
    assert.deepEqual(check('read', ['a', 'b']), [])
    assert.match(check('write', ['a', 'b'])[0]!, /carried out 2 times/)
    assert.match(check('write', ['a'], 'a', 'write-9')[0]!, /got the answer of write-9/)
    assert.match(check('write', ['b'])[0]!, /answered by a, which did not run it/)
  })

  it('finds a call that hangs, a gap in a stream, and an end without an error', () => {
    const history = new History()
    history.begin('read')
    history.end(history.begin('ticks'), { is: 'failed', code: 'LINK_LOST', values: [0, 2] })
    history.end(history.begin('ticks'), { is: 'streamed', values: [0], wanted: 2 })
    history.end(history.begin('ticks'), { is: 'failed', code: 'INTERNAL', values: [] })
    const faults = history.faults([], 1_000)
    assert.deepEqual(
      faults.map((fault) => fault.replace(/^\w+-\d /, '')),
      ['has never ended', 'has 2 at 1', 'ended with 1 of 2 values, without an error', 'failed with INTERNAL'],
    )
  })
})
