import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { flags, form, frameTypes, kinds, protocolVersion } from '../../../src/mesh/links/frames/frame-encoder.ts'
import * as limits from '../../../src/mesh/links/limits/limits.ts'
import { window } from '../../../src/mesh/links/link.ts'

const page = readFileSync(new URL('../../../../../docs/reference/protocol.md', import.meta.url), 'utf8')

describe('the protocol page', () => {
  it('lists the frames', () => {
    const rows = rowsOf('## Frames').map(([type, name]) => [name, Number(type)])
    assert.deepEqual(Object.fromEntries(rows), frameTypes)
  })

  it('lists the limits', () => {
    const rows = rowsOf('## Limits').map(([name, value]) => [name, Number(value)])
    assert.deepEqual(Object.fromEntries(rows), { window, ...limits })
  })

  it('states the version, the kinds of calls, their flags, and where bytes begin', () => {
    assert.match(page, new RegExp(`The version is \\*\\*${protocolVersion}\\*\\*`))
    assert.ok(page.includes(kinds.map((kind, at) => `${at} ${kind}`).join(', ')))
    assert.ok(page.includes(`\`flags\`: ${flags.ended} the caller sends no data, ${flags.stays} it will not give up`))
    assert.ok(page.includes(`Form ${form.none}: undefined`) && page.includes(`Form ${form.plain}: as it is`))
    assert.ok(page.includes(`From ${form.bytesFrom} on`))
  })
})

/** The cells of each row of the table under a heading. */
function rowsOf(heading: string): string[][] {
  const [, section] = page.split(heading)
  const lines = section!
    .split('\n## ')[0]!
    .split('\n')
    .filter((line) => line.startsWith('| '))
  return lines.slice(1).map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  )
}
