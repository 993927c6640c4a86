import assert from 'node:assert/strict'
import { test } from 'node:test'
import { htmlReport } from '../../src/report/html/page.ts'
import { markdownReport } from '../../src/report/markdown.ts'
import { terminalReport } from '../../src/report/terminal.ts'
import { reasonText } from '../../src/report/reason.ts'
import { sentencesFor } from '../../src/report/sentences.ts'
import type { ComparisonResult, Result } from '../../src/result.ts'
import { resultOf } from '../support/result.ts'

const arms = {
  base: { perSecond: [100, 101], p99: [5, 6] },
  arm: { perSecond: [200, 202], p99: [4, 5] },
}

function withVerdict(change: Partial<ComparisonResult>): Result {
  const result = resultOf(arms)
  return { ...result, comparisons: result.comparisons.map((each) => ({ ...each, ...change })) }
}

test('the reason of a program that logs JSON is its message, without the stack', () => {
  const line = JSON.stringify({ level: 50, service: 'web', msg: 'Error: no "table"\n    at query (db.js:1:1)' })
  assert.equal(reasonText(`web ended:\nready\n${line}\n`), 'web ended: Error: no "table"')
})

test('the reason of a program that exits is what it said before, not where it exits', () => {
  const log = [
    '{"level":50,"service":"api","msg":"no database at 10.0.0.1"}',
    "busbar: service 'api' called process.exit(7) (PROGRAM_EXITED)",
    '  Error: process.exit(7)',
    '      at Object.<anonymous> (server.js:1:92)',
    'exit code 1',
  ]
  assert.equal(
    reasonText(`process ended before it answered:\n${log.join('\n')}`),
    "process ended before it answered: no database at 10.0.0.1 / busbar: service 'api' called process.exit(7) (PROGRAM_EXITED) (exit code 1)",
  )
})

test('the reason is the error, not the line of code that made it, and a heading comes with the next line', () => {
  const compiled = [
    '/app/node_modules/ts-node/src/index.ts:859',
    '    return new TSError(text, codes, diagnostics);',
    '           ^',
    'TSError: Unable to compile TypeScript:',
    'server.ts:1:18 - error TS2307: Cannot find module',
    '    at createTSError (index.ts:859:12)',
  ]
  assert.equal(
    reasonText(`it ended:\n${compiled.join('\n')}`),
    'it ended: TSError: Unable to compile TypeScript: / server.ts:1:18 - error TS2307: Cannot find module',
  )
  assert.equal(
    reasonText('it ended:\nAggregateError [ECONNREFUSED]:\n    at connect'),
    'it ended: AggregateError [ECONNREFUSED]:',
  )
})

test('the reason names the service whose error it was', () => {
  const said = "busbar: service 'web' left a rejection unhandled: TypeError: fetch failed"
  assert.equal(reasonText(`it ended:\n${said}\n  TypeError: fetch failed\n    at x`), `it ended: ${said}`)
})

test('a program that says nothing, or JSON that is none, has a reason too', () => {
  assert.equal(reasonText('it gave no answer (after 30 s):\n'), 'it gave no answer (after 30 s)')
  const line = String.raw`{"msg":"\x41"}`
  assert.equal(reasonText(`it ended:\n${line}`), `it ended: ${line}`)
})

test('each verdict is a sentence with its interval', () => {
  const said = (change: Partial<ComparisonResult>) => sentencesFor(withVerdict(change))[0]
  assert.equal(
    said({ verdict: 'faster', ratio: 2, low: 1.9, high: 2.1 }),
    '“arm, in words” is faster than “base, in words”: 2.00 times the requests per server CPU second (99\u{a0}% interval 1.90 to 2.10).',
  )
  assert.match(said({ verdict: 'slower' })!, /is slower than/)
  assert.match(said({ verdict: 'no difference' })!, /do not differ by an amount that matters/)
  assert.match(said({ verdict: 'unclear' })!, /is unclear: .*Run more rounds to find out/)
  assert.match(said({ verdict: 'unclear', high: 5000 })!, /is unclear: too few rounds to compare/)
  assert.match(said({ verdict: 'invalid' })!, /were not compared/)
})

test('an invalid arm is reported with the reason', () => {
  const result = resultOf({ ...arms, bad: { perSecond: [300, 300], invalid: 'mismatch:body × 3: too short\nmore' } })
  const sentence = '“bad, in words” does not count: mismatch:body × 3: too short'
  assert.ok(sentencesFor(result).includes(sentence))
  for (const text of [terminalReport(result, { summary: false }), markdownReport(result, { summary: false })]) {
    assert.ok(text.includes(sentence))
    assert.match(text, /bad .*INVALID/)
  }
  assert.match(htmlReport(result), /bad, in words<\/strong> does not count:<ul><li>mismatch:body × 3: too short</)
})

test('a reason with the output of a program shows the line with the error', () => {
  const said =
    'arm ended before it answered:\nnode:internal/modules/run_main:107\n    throw x\nError: no such module\n    at run'
  const words = sentencesFor(resultOf({ bad: { perSecond: [1, 1], invalid: said } })).find((line) => /count/.test(line))
  assert.equal(words, '“bad, in words” does not count: arm ended before it answered: Error: no such module')
})

test('the noise is stated only for a valid control', () => {
  const withControl = (invalid?: string): string => {
    const result = resultOf({ ...arms, again: { perSecond: [100, 101], ...(invalid !== undefined && { invalid }) } })
    const marked = result.arms.map((arm) => (arm.name === 'again' ? { ...arm, control: true } : arm))
    return sentencesFor({ ...result, arms: marked }).join('\n')
  }
  assert.match(withControl(), /Two copies of the same arm differed by/)
  assert.doesNotMatch(withControl('lost to steal'), /differed by/)
  assert.match(withControl('lost to steal'), /so the noise of this session is unknown/)
})

test('a job counts runs, and a low rate has decimals', () => {
  const text = terminalReport(resultOf({ base: { perSecond: [2.5, 2.5] } }, { unit: 'run' }), { summary: false })
  assert.match(text, /runs\/s .*runs\/CPU s/)
  assert.match(text, /2\.50/)
})

test('all rows of a Markdown table have the same number of columns', () => {
  const rows = markdownReport(resultOf(arms), { summary: true })
    .split('\n')
    .filter((line) => line.startsWith('|'))
  const groups = rows.map((row) => row.split('|').length)
  assert.ok(new Set(groups).size <= 2, groups.join())
})

test('the page loads nothing and has no scripts', () => {
  const page = htmlReport(withVerdict({ verdict: 'faster' }))
  assert.match(page, /content-security-policy" content="default-src 'none'; style-src 'unsafe-inline'"/)
  for (const wrong of [/<script/, /<link/, /<img/, /<iframe/, /\ssrc=/, /\shref=/, /@import/, /url\(/, /\son\w+=/])
    assert.doesNotMatch(page, wrong)
})

test('names, answers and commands are escaped in the page', () => {
  const evil = '<script>alert("1")</script>&amp;'
  const result = resultOf({ ...arms, [evil]: { perSecond: [1, 1], invalid: evil } }, { question: evil, command: evil })
  const page = htmlReport(result)
  assert.ok(!page.includes('<script'))
  assert.ok(page.includes('&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&amp;amp;'))
})

test('every element of the page is closed, and every number of a plot is valid', () => {
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

test('a run without a complete round, or with a single arm, also has reports', () => {
  for (const result of [resultOf({ base: { perSecond: [] } }), resultOf({ base: { perSecond: [5] } })])
    for (const report of [htmlReport(result), terminalReport(result, { summary: true })])
      assert.doesNotMatch(report, /NaN|Infinity|undefined/)
})
