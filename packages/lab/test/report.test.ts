import assert from 'node:assert/strict'
import { test } from 'node:test'
import { htmlReport } from '../src/report/html/page.ts'
import { markdownReport } from '../src/report/markdown.ts'
import { terminalReport } from '../src/report/terminal.ts'
import { inWords } from '../src/report/words.ts'
import type { ComparisonResult, Result } from '../src/result.ts'
import { resultOf } from './support/result.ts'

const arms = {
  base: { perSecond: [100, 101], p99: [5, 6] },
  arm: { perSecond: [200, 202], p99: [4, 5] },
}

function withVerdict(change: Partial<ComparisonResult>): Result {
  const result = resultOf(arms)
  return { ...result, comparisons: result.comparisons.map((each) => ({ ...each, ...change })) }
}

test('the answer is a sentence with its interval, for each verdict', () => {
  const said = (change: Partial<ComparisonResult>) => inWords(withVerdict(change))[0]
  assert.equal(
    said({ verdict: 'faster', ratio: 2, low: 1.9, high: 2.1 }),
    '“arm, in words” is faster than “base, in words”: 2.00 times the requests per server CPU second (99\u{a0}% interval 1.90 to 2.10).',
  )
  assert.match(said({ verdict: 'slower' })!, /is slower than/)
  assert.match(said({ verdict: 'no difference' })!, /do not differ by anything that matters/)
  assert.match(said({ verdict: 'unclear' })!, /is unclear: .*more rounds would tell/)
  assert.match(said({ verdict: 'invalid' })!, /were not compared/)
})

test('what does not count is said, and why', () => {
  const result = resultOf({ ...arms, bad: { perSecond: [300, 300], invalid: 'mismatch:body × 3: too short\nmore' } })
  const sentence = '“bad, in words” does not count: mismatch:body × 3: too short'
  assert.ok(inWords(result).includes(sentence))
  for (const text of [terminalReport(result, { summary: false }), markdownReport(result, { summary: false })]) {
    assert.ok(text.includes(sentence))
    assert.match(text, /bad .*INVALID/)
  }
  assert.match(htmlReport(result), /bad, in words<\/strong> does not count:<ul><li>mismatch:body × 3: too short</)
})

test('a reason that ends in what a program said has the line that tells', () => {
  const said =
    'arm ended before it answered:\nnode:internal/modules/run_main:107\n    throw x\nError: no such module\n    at run'
  const words = inWords(resultOf({ bad: { perSecond: [1, 1], invalid: said } })).find((line) => /count/.test(line))
  assert.equal(words, '“bad, in words” does not count: arm ended before it answered: Error: no such module')
})

test('what two copies differ by is told only of copies that count', () => {
  const withControl = (invalid?: string): string => {
    const result = resultOf({ ...arms, again: { perSecond: [100, 101], ...(invalid !== undefined && { invalid }) } })
    const marked = result.arms.map((arm) => (arm.name === 'again' ? { ...arm, control: true } : arm))
    return inWords({ ...result, arms: marked }).join('\n')
  }
  assert.match(withControl(), /Two copies of the same arm differed by/)
  assert.doesNotMatch(withControl('lost to steal'), /differed by/)
  assert.match(withControl('lost to steal'), /what two copies of the same arm differ by is not known here/)
})

test('runs of a job are called runs, and a low rate has digits', () => {
  const text = terminalReport(resultOf({ base: { perSecond: [2.5, 2.5] } }, { unit: 'run' }), { summary: false })
  assert.match(text, /runs\/s .*runs\/CPU s/)
  assert.match(text, /2\.50/)
})

test('a table in Markdown has as many columns in every row', () => {
  const rows = markdownReport(resultOf(arms), { summary: true })
    .split('\n')
    .filter((line) => line.startsWith('|'))
  const groups = rows.map((row) => row.split('|').length)
  assert.ok(new Set(groups).size <= 2, groups.join())
})

test('the page needs nothing from elsewhere and runs nothing', () => {
  const page = htmlReport(withVerdict({ verdict: 'faster' }))
  assert.match(page, /content-security-policy" content="default-src 'none'; style-src 'unsafe-inline'"/)
  for (const wrong of [/<script/, /<link/, /<img/, /<iframe/, /\ssrc=/, /\shref=/, /@import/, /url\(/, /\son\w+=/])
    assert.doesNotMatch(page, wrong)
})

test('no name, answer or command can put anything into the page', () => {
  const evil = '<script>alert("1")</script>&amp;'
  const result = resultOf({ ...arms, [evil]: { perSecond: [1, 1], invalid: evil } }, { question: evil, command: evil })
  const page = htmlReport(result)
  assert.ok(!page.includes('<script'))
  assert.ok(page.includes('&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&amp;amp;'))
})

test('every element of the page is closed, and every number of a plot is one', () => {
  const page = htmlReport(withVerdict({ verdict: 'faster', low: 1e-9, high: 1e9 }))
  const open: string[] = []
  for (const [, slash, name] of page.matchAll(/<(\/?)([a-z][a-z0-9]*)(?:\s[^<>]*)?>/g)) {
    if (name === 'meta') continue
    if (slash === '') open.push(name!)
    else assert.equal(open.pop(), name)
  }
  assert.deepEqual(open, [])
  assert.doesNotMatch(page, /NaN|Infinity|undefined/)
})

test('a run without a whole round, or with one arm alone, makes reports too', () => {
  for (const result of [resultOf({ base: { perSecond: [] } }), resultOf({ base: { perSecond: [5] } })])
    for (const report of [htmlReport(result), terminalReport(result, { summary: true })])
      assert.doesNotMatch(report, /NaN|Infinity|undefined/)
})
