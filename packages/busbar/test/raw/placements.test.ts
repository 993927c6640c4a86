/**
 * An answer does not depend on where its service runs: every difference there is has its reason, in
 * the guide too.
 */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { before, describe, it } from 'node:test'
import { outcomesAt, told, toldPlainly, type Outcome } from './compare.ts'
import { corpus } from './corpus/corpus.ts'
import { knownDifference, knownDifferences } from './known-differences.ts'
import { startAt, startPlain, type Placement } from './placements.ts'
import { isWanted } from '../support/wanted.ts'

const file = `${import.meta.dirname}/programs/echo.mjs`
const names = Object.keys(corpus)
const guide = new URL('../../../../docs/guides/gateway.md', import.meta.url)

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

  it('comes to an end', () => {
    assert.deepEqual(
      names.filter((name) => !shared.get(name)!.ended),
      [],
    )
  })

  for (const placement of ['thread', 'process', 'command'] as const)
    it(`is answered by a service in a ${placement} as by one in the gateway's worker`, async () => {
      compare(placement, shared, await outcomesOf(placement), told)
    })

  it('is answered as by the same program under plain Node, but for what the gateway is for', async () => {
    await using server = await startPlain(file)
    compare('plain', shared, await outcomesAt(server.port, names), toldPlainly)
  })
})

it('every difference that there is stands in the guide', async () => {
  const text = (await readFile(guide, 'utf8')).replaceAll(/\s+/g, ' ')
  for (const { why } of knownDifferences) assert.ok(text.includes(why), `the guide does not say: ${why}`)
})

function compare(at: Placement | 'plain', shared: Outcomes, other: Outcomes, as: (outcome: Outcome) => string): void {
  const unknown: string[] = []
  const gone: string[] = []
  for (const name of names) {
    const [expected, found] = [as(shared.get(name)!), as(other.get(name)!)]
    const known = knownDifference(name, at)
    // Most are of the service that gets the gateway's own objects; where none does, placements agree.
    if (expected === found && known !== undefined && isWanted('handover')) gone.push(name)
    if (expected !== found && known === undefined)
      unknown.push(`${name}\n--- shared\n${expected}\n--- ${at}\n${found}\n`)
  }
  assert.deepEqual(gone, [], 'known differences that there are no more')
  assert.equal(
    unknown.length,
    0,
    `${unknown.length} differences, the first of them:\n${unknown.slice(0, 3).join('\n')}`,
  )
}
