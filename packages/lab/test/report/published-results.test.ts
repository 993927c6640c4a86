import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { compact } from '../../src/report/report.ts'
import { markdownReport } from '../../src/report/markdown.ts'
import { lengthText } from '../../src/report/sentences.ts'
import type { Result } from '../../src/result.ts'
import { resultOf } from '../support/result.ts'

const folder = new URL('../../../../docs/results/', import.meta.url)
const names = (await readdir(folder)).filter((name) => name.endsWith('.json'))

test('results are published', () => assert.ok(names.length > 5))

for (const name of names)
  test(`docs/results/${name} is compact, and its page is up to date`, async () => {
    const result = JSON.parse(await readFile(new URL(name, folder), 'utf8')) as Result
    assert.deepEqual(result, compact(result))
    const page = await readFile(new URL(name.replace('.json', '.md'), folder), 'utf8')
    assert.equal(page, markdownReport(result, { summary: false }))
  })

test('a report states what stopped the run early', () => {
  const result = resultOf({ a: { perSecond: [1, 1, 1, 1, 1] } }, { seconds: 475.3 })
  assert.equal(lengthText(result), '5 rounds in 475 s')
  const stopped = (by: 'budget' | 'hand') => lengthText({ ...result, stopped: { by, wanted: 12 } })
  assert.equal(stopped('budget'), 'stopped by its time budget after 5 of at least 12 rounds, in 475 s')
  assert.equal(stopped('hand'), 'stopped by hand after 5 of at least 12 rounds, in 475 s')
})
