import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { hazardCodes } from '../../src/config/hazards/hazard.ts'
import { allKeys, createJsonSchema, type SchemaKey } from '../../src/config/schema/json-schema.ts'
import { loadApp } from '../../src/config/load.ts'
import { errorTable } from '../../src/contract/errors.ts'
import { TestFolder } from '../support/app/test-folder.ts'

const docs = new URL('../../../../docs/reference/', import.meta.url)

describe('docs/reference/config.md', () => {
  const page = readFileSync(new URL('config.md', docs), 'utf8')

  it('lists exactly the keys, with type, default and meaning', () => {
    assert.deepEqual(rowsOf(page, 'Every key'), [...allKeys()].map(toRow))
  })

  for (const language of ['ts', 'json'])
    it(`shows a config that loads (${language})`, async () => {
      const block = new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, 'ms').exec(page)?.[1]
      assert.ok(block)
      const text = block.replace(/^import .*$/m, 'const defineApp = (config: object): object => config')
      const programs = { 'web/index.js': '', 'catalog/index.js': '', 'stock/index.js': '' }
      using folder = new TestFolder({ ...programs, [`busbar.config.${language}`]: text })
      const { gateway, services } = await loadApp(folder.path, { env: {} })
      assert.equal(gateway.port, 3043)
      assert.equal(services.length, language === 'ts' ? 3 : 1)
    })
})

describe('docs/reference/errors.md', () => {
  const page = readFileSync(new URL('errors.md', docs), 'utf8')

  it('lists exactly the error codes, with status and exit code', () => {
    const codes = Object.entries(errorTable).map(([code, { status, exit }]) => [code, String(status), String(exit)])
    const rows = rowsOf(page, 'Codes').map((row) => cells(row).slice(0, 3))
    assert.deepEqual(rows.toSorted(byText), codes.toSorted(byText))
  })

  it('explains every error code: when it occurs and what to do', () => {
    for (const row of rowsOf(page, 'Codes')) {
      const [code, , , when, what] = cells(row)
      assert.ok((when?.length ?? 0) > 15 && (what?.length ?? 0) > 10, code)
    }
  })

  it('explains every exit code', () => {
    const used = new Set([0, ...Object.values(errorTable).map(({ exit }) => exit)])
    assert.deepEqual(
      firstCells(page, 'Exit codes').map(Number),
      [...used].toSorted((one, other) => one - other),
    )
  })

  it('lists exactly the warnings of `busbar check`', () => {
    assert.deepEqual(firstCells(page, 'Warnings of').toSorted(), [...hazardCodes].toSorted())
  })
})

describe('the JSON Schema', () => {
  it('has a title and a description for every key', () => {
    for (const { path, node } of allKeys()) assert.ok(node.title && node.description, path)
  })

  it('has the same keys as the reference page', () => {
    assert.equal((createJsonSchema() as { $schema?: string }).$schema, 'http://json-schema.org/draft-07/schema#')
    assert.deepEqual(Object.keys(createJsonSchema().properties ?? {}).slice(0, 2), ['$schema', 'workers'])
  })
})

function toRow({ path, node }: SchemaKey): string {
  const isPlain = node.default !== undefined && typeof node.default !== 'object'
  return `| \`${path}\` | ${node.title} | ${isPlain ? `\`${JSON.stringify(node.default)}\`` : ''} | ${node.description} |`
}

/** Rows of tables under headings with this prefix, without header rows. */
function rowsOf(page: string, heading: string): string[] {
  const sections = page.split(/^## /m).filter((section) => section.startsWith(heading))
  assert.equal(sections.length, 1, `one section ${heading}`)
  return sections[0]!
    .split('\n')
    .filter((line, at, all) => line.startsWith('|') && !/^\|\s*-/.test(line) && !/^\|\s*-/.test(all[at + 1] ?? ''))
}

function cells(row: string): string[] {
  return row
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim().replace(/^`(.*)`$/, '$1'))
}

function firstCells(page: string, heading: string): string[] {
  return rowsOf(page, heading).map((row) => cells(row)[0]!)
}

function byText(one: readonly string[], other: readonly string[]): number {
  return one[0]! < other[0]! ? -1 : 1
}
