import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { flags, help } from '../../src/cli/options.ts'
import { full, quick, type Timing } from '../../src/protocol/plan.ts'
import { hostArms } from '../../src/scenarios/fanout-hosts.ts'

const guide = await readFile(new URL('../../../../docs/guides/measure/lab.md', import.meta.url), 'utf8')

test('the guide and the help list exactly the flags', () => {
  const names = Object.keys(flags).toSorted()
  const rows = [...guide.matchAll(/^\| `--([a-z0-9-]+)/gm)].map(([, name]) => name!)
  assert.deepEqual(rows.toSorted(), names)
  const lines = [...help().matchAll(/^ {2}--([a-z0-9-]+)/gm)].map(([, name]) => name!)
  assert.deepEqual([...lines, 'help'].toSorted(), names)
})

test('the page of scenarios lists exactly the arms of several hosts', async () => {
  const page = await readFile(new URL('../../../../docs/guides/measure/lab-scenarios.md', import.meta.url), 'utf8')
  const [, section = ''] = page.split('### What does another host cost?')
  const rows = section.split('\n').filter((line) => line.startsWith('| `'))
  const named = rows.flatMap((row) => [...row.split('|')[1]!.matchAll(/`([\w-]+)`/g)].map(([, name]) => name!))
  assert.deepEqual(named.toSorted(), hostArms.map(({ name }) => name).toSorted())
})

test("the guide's timing is the actual one", () => {
  const row = (name: string) => {
    const found = guide.split('\n').find((line) => line.startsWith(`| ${name}`))
    assert.ok(found, name)
    return found.split('|').map((cell) => cell.trim())
  }
  for (const [column, timing] of [quick, full].entries()) {
    const cell = (name: string) => row(name)[column + 2]!
    assert.ok(cell('warm-up').startsWith(seconds(timing.warmUpMs)))
    assert.ok(cell('load in each round').startsWith(loadOf(timing)))
    assert.ok(cell('rounds').startsWith(roundsOf(timing)))
    assert.equal(cell('smallest difference'), `${timing.matters * 100} %`)
    const share = timing.openShares[0]
    assert.ok(cell('latency').startsWith(share === undefined ? 'none' : `at ${share * 100} %`))
  }
  assert.ok(row('warm-up')[3]!.includes(`up to ${seconds(full.extraWarmUpMs)} longer`))
  assert.ok(row('rounds')[2]!.endsWith(`or for ${seconds(quick.budgetMs)}`))
  const text = guide.replaceAll(/\s+/g, ' ')
  assert.ok(text.includes(`two slices of ${seconds(quick.sliceMs)} in quick runs`))
  assert.ok(text.includes(`A quick run takes at most ${quick.budgetMs / 1000} seconds`))
})

function loadOf({ pulses, pulseMs, sliceMs, discardMs }: Timing): string {
  if (pulses > 0) return `${pulses} pulses of ${seconds(pulseMs)}`
  return `two slices of ${seconds(sliceMs)}, of which ${seconds(discardMs)} discarded`
}

function seconds(milliseconds: number): string {
  return `${milliseconds / 1000} s`
}

function roundsOf({ rounds, maxRounds }: Timing): string {
  return rounds === maxRounds ? `${rounds}` : `${rounds} to ${maxRounds}`
}
