/**
 * A response does not depend on where its service runs. Every known difference has a reason, which
 * is in the guide too.
 */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { before, describe, it } from 'node:test'
import { formatCommonOutcome, formatOutcome, outcomesAt, type Outcome } from './outcomes.ts'
import { corpus } from './corpus/corpus.ts'
import { knownDifference, knownDifferences } from './known-differences.ts'
import { startAt, startPlain, type Placement } from './placements.ts'
import { wantedEntrance } from '../support/app/wanted-entrance.ts'
import { isOn } from '../support/mesh/accelerators.ts'

const file = `${import.meta.dirname}/programs/echo.mjs`
const names = Object.keys(corpus)
const guide = new URL('../../../../docs/guides/expose/gateway.md', import.meta.url)

type Outcomes = ReadonlyMap<string, Outcome>

async function outcomesOf(placement: Placement): Promise<Outcomes> {
  const routes = ['shop', 'admin'].map((service) => ({ host: undefined, prefix: `/${service}`, service }))
  await using app = await startAt(placement, { file, names: ['web', 'shop', 'admin'], routes })
  const outcomes = await outcomesAt(app.port, names)
  assert.deepEqual(
    app.running.workers.map(({ deaths }) => deaths),
    app.running.workers.map(() => 0),
  )
  return outcomes
}

describe('a raw request', () => {
  let shared: Outcomes
  before(async () => (shared = await outcomesOf('shared')))

  it('ends its connection', () => {
    assert.deepEqual(
      names.filter((name) => !shared.get(name)!.ended),
      [],
    )
  })

  for (const placement of ['thread', 'process', 'command'] as const)
    it(`is answered by a service in a ${placement} as in the gateway's worker`, async () => {
      compare(placement, shared, await outcomesOf(placement), formatOutcome)
    })

  it('is answered as under plain Node, except where the gateway is meant to differ', async () => {
    await using server = await startPlain(file)
    compare('plain', shared, await outcomesAt(server.port, names), formatCommonOutcome)
  })
})

it('every known difference is in the guide', async () => {
  const text = (await readFile(guide, 'utf8')).replaceAll(/\s+/g, ' ')
  for (const { why } of knownDifferences) assert.ok(text.includes(why), `the guide does not say: ${why}`)
})

function compare(
  at: Placement | 'plain',
  shared: Outcomes,
  other: Outcomes,
  format: (outcome: Outcome) => string,
): void {
  const unknown: string[] = []
  const gone: string[] = []
  for (const name of names) {
    const [expected, found] = [format(shared.get(name)!), format(other.get(name)!)]
    const known = knownDifference(name, at)
    // Most differences exist only if the service gets the gateway's own request and response
    // objects.
    if (expected === found && known !== undefined && isOn('handover') && wantedEntrance === 'portable') gone.push(name)
    if (expected !== found && known === undefined)
      unknown.push(`${name}\n--- shared\n${expected}\n--- ${at}\n${found}\n`)
  }
  assert.deepEqual(gone, [], 'known differences that no longer exist')
  assert.equal(
    unknown.length,
    0,
    `${unknown.length} unknown differences, the first ones:\n${unknown.slice(0, 3).join('\n')}`,
  )
}
