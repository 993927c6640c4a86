/** The raw corpus: a request means the same to the native entrance and to the portable gateway. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { describe, it } from 'node:test'
import type { GatewayConfig } from '../../src/config/app.ts'
import { corpus } from '../raw/corpus/corpus.ts'
import { entranceDifferences } from '../raw/known-differences.ts'
import { formatCommonOutcome, type Outcome, outcomesAt } from '../raw/outcomes.ts'
import { appOf, TestApp } from '../support/app/test-app.ts'
import { builtAddon } from './served.ts'

const options = { skip: builtAddon === undefined ? 'the entrance is not built' : false }
const file = `${import.meta.dirname}/../raw/programs/echo.mjs`
const guide = new URL('../../../../docs/guides/expose/entrance.md', import.meta.url)
const names = Object.keys(corpus)

async function outcomesOf(entrance: GatewayConfig['entrance']): Promise<ReadonlyMap<string, Outcome>> {
  const services = Object.fromEntries(
    ['web', 'shop', 'admin'].map((name) => [name, { file, run: 'shared' as const, env: { SERVICE: name } }]),
  )
  const routes = ['shop', 'admin'].map((service) => ({ host: undefined, prefix: `/${service}`, service }))
  await using app = await TestApp.startLoaded(appOf({ services, gateway: { entrance, entry: 'web', routes } }))
  return await outcomesAt(app.port, names)
}

describe('a raw request to the native entrance', options, () => {
  it('has the outcome that it has at the portable gateway', async () => {
    const portable = await outcomesOf('portable')
    const native = await outcomesOf('native')
    const differing = names.filter((name) => {
      const [expected, found] = [portable.get(name)!, native.get(name)!]
      return formatCommonOutcome(expected) !== formatCommonOutcome(found)
    })
    const unknown = differing.filter((name) => !entranceDifferences.some(({ cases }) => cases.test(name)))
    const shown = unknown.slice(0, 3).map((name) => `${name}\n${formatCommonOutcome(native.get(name)!)}`)
    assert.deepEqual(unknown, [], shown.join('\n\n'))
    assert.ok(
      entranceDifferences.every(({ cases }) => differing.some((name) => cases.test(name))),
      'a known difference that no longer exists',
    )
  })
})

it('every known difference of the native entrance is in its guide', async () => {
  const text = (await readFile(guide, 'utf8')).replaceAll(/\s+/g, ' ')
  for (const { why } of entranceDifferences) assert.ok(text.includes(why), `the guide does not say: ${why}`)
})
