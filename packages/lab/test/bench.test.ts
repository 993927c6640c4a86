import { Ajv2020 } from 'ajv/dist/2020.js'
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { before, describe, test } from 'node:test'
import type { Arm } from '../src/arm.ts'
import { bench } from '../src/bench.ts'
import { htmlReport } from '../src/report/html/page.ts'
import { markdownReport } from '../src/report/markdown.ts'
import { terminalReport } from '../src/report/terminal.ts'
import type { Result } from '../src/result.ts'
import { OwnCache, scenarioOf, serverArm, tiny, withEngine } from './support/fixture.ts'

const timing = { ...tiny, pulses: 0, sliceMs: 1000, rounds: 2, maxRounds: 2 }

describe('a run with latency at fixed rates', withEngine, () => {
  let result: Result
  before(async () => {
    using _ = new OwnCache()
    // One arm cannot do three times what the baseline can. That is not a fault of its answers.
    const scenario = scenarioOf([serverArm('slow', { DELAY: '20' })], { connections: [4] })
    result = await bench(scenario, { quick: true, timing, openShares: [0.3], seed: 7, command: 'busbar bench fixture' })
  })

  test('matches the schema in both directions', async () => assert.deepEqual(await problems(result), []))

  test('has all cells valid, and compared by throughput and by p99', () => {
    for (const { name, invalidBecause } of result.arms) assert.deepEqual(invalidBecause, [], name)
    const deciding = result.comparisons.filter(({ decides }) => decides)
    assert.deepEqual(
      deciding.map(({ arm, baseline, metric, share, rounds }) => [arm, baseline, metric, share, rounds]),
      [
        ['slow', 'good', deciding[0]!.metric, null, 2],
        ['slow', 'good', 'p99', 0.3, 2],
      ],
    )
    assert.match(deciding[0]!.metric, /^per(Cpu)?Second$/)
  })

  test('reports an overloaded arm', () => {
    const [good, slow] = ['good', 'slow'].map((name) => result.arms.find((arm) => arm.name === name)!.open[0]!)
    assert.equal(good!.rate, slow!.rate)
    assert.deepEqual([good!.overloaded, slow!.overloaded], [false, true])
    assert.ok(result.notes.some((note) => /Overloaded at 30 % .*: slow\./.test(note)))
    // At most 200 answers per second, so the queue grows until the end.
    assert.ok(slow!.latency!.p99 > 100)
  })

  test('has samples of the programs on the timeline of each slice', () => {
    const { server, slices } = result.arms[0]!
    for (const [key, value] of Object.entries(server)) assert.ok(value !== null && value >= 0, key)
    assert.equal(server.processes, 1)
    assert.equal(server.threads, 1)
    assert.ok(server.heapTotal! >= server.heapUsed! && server.heapUsed! >= server.oldSpace!)
    assert.ok(server.rss! > server.heapTotal!)
    assert.ok(slices.some(({ runtime }) => runtime.length >= 2))
    for (const { runtime } of slices) for (const { at } of runtime) assert.ok(at > 0 && at < 5)
    assert.equal(slices.length, 2 * 2 * 2)
  })

  test('names a command that repeats it', () => assert.equal(result.command, 'busbar bench fixture --seed 7'))

  test('produces every report', () => {
    for (const report of [terminalReport, markdownReport]) {
      const text = report(result, { summary: true })
      for (const part of ['good', 'slow', 'p99', '2xx', 'heap used MB', 'verdict', 'Two copies of the same arm'])
        assert.ok(text.includes(part), part)
    }
    const page = htmlReport(result)
    for (const part of ['Ratios', 'Latency', 'Over time', 'Repeat it', 'busbar bench fixture --seed 7', '<svg'])
      assert.ok(page.includes(part), part)
  })
})

describe('a run in pulses', withEngine, () => {
  let result: Result
  before(async () => {
    using _ = new OwnCache()
    const scenario = scenarioOf([serverArm('slow', { DELAY: '20' })], { connections: [4] })
    const timing = { ...tiny, warmUpMs: 1500, rounds: 4, maxRounds: 4, pulses: 8 }
    result = await bench(scenario, { quick: true, timing, openShares: [0.3], seed: 7, command: 'busbar bench fixture' })
  })

  test('matches the schema in both directions', async () => assert.deepEqual(await problems(result), []))

  test('has all cells valid, and a slice of pulses in each round besides those at a fixed rate', () => {
    for (const { name, invalidBecause, slices } of result.arms) {
      assert.deepEqual(invalidBecause, [], name)
      const shares = slices.filter(({ round }) => round === 2).map(({ share }) => share)
      assert.deepEqual(shares, [null, 0.3, 0.3], name)
    }
  })

  test('compares the arms over all rounds, with the degrees of freedom of the interval', () => {
    const { ratio, low, high, rounds, freedom } = result.comparisons.find(({ metric }) => metric === 'perSecond')!
    assert.equal(rounds, 4)
    assert.ok(low <= ratio && ratio <= high, `${low} to ${high}, ${ratio}`)
    assert.ok(freedom! >= 3, `${freedom}`)
  })

  test('has the memory of the warm-up, whose moments are not on the timeline of the pulses', () => {
    const { server, slices } = result.arms[0]!
    for (const [key, value] of Object.entries(server)) assert.ok(value !== null && value >= 0, key)
    for (const { share, runtime } of slices) if (share === null) assert.deepEqual(runtime, [])
    for (const { series, otherCores } of slices) assert.ok(series.length > 0 && otherCores !== null)
  })

  test('produces every report', () => {
    for (const text of [terminalReport(result, { summary: true }), markdownReport(result, { summary: true })])
      assert.ok(text.includes('slow'))
    assert.ok(htmlReport(result).includes('<svg'))
  })
})

test('a round that has taken its time has no more pulses than it needs', withEngine, async () => {
  using _ = new OwnCache()
  const measured: string[] = []
  await bench(scenarioOf([]), {
    quick: true,
    timing: { ...tiny, pulses: 40, roundMs: 0 },
    command: 'test',
    onProgress: ({ cell, activity }) => void (activity === 'measure' && measured.push(cell)),
  })
  const counts = [...Map.groupBy(measured, (cell) => cell)].map(([cell, pulses]) => [cell, pulses.length])
  // One opens the connections.
  assert.deepEqual(Object.fromEntries(counts), { good: 5, 'good (again)': 5 })
})

test('a run whose time is over ends without the round that runs', async () => {
  using _ = new OwnCache()
  const result = await bench(scenarioOf([]), { quick: true, timing: { ...tiny, limitMs: 1 }, command: 'test' })
  assert.equal(result.rounds, 0)
  assert.deepEqual(await problems(result), [])
})

test('without the engine autocannon measures throughput and no latency', async () => {
  using _ = new OwnCache()
  process.env['BUSBAR_LOAD'] = 'autocannon'
  try {
    const faulty = serverArm('status', { FAULT: 'status', EVERY: '50' })
    const options = { quick: true, timing: { ...tiny, rounds: 2, maxRounds: 2 }, openShares: [0.5], command: 'test' }
    const result = await bench(scenarioOf([serverArm('other'), faulty]), options)
    assert.equal(result.generator, 'autocannon')
    assert.deepEqual(await problems(result), [])
    assert.ok(result.notes.some((note) => note.includes('throughput only')))
    assert.deepEqual(
      result.arms.map(({ name, valid }) => [name, valid]),
      [
        ['good', true],
        ['other', true],
        ['status', false],
        ['good (again)', true],
      ],
    )
    for (const { latency, open, throughput } of result.arms) {
      assert.deepEqual([latency, open], [null, []])
      assert.ok(throughput.perSecond! > 0)
    }
    assert.ok(result.comparisons.every(({ metric }) => metric === 'perSecond' || metric === 'perCpuSecond'))
  } finally {
    delete process.env['BUSBAR_LOAD']
  }
})

test('an installation is announced, and its failure reported', async () => {
  using _ = new OwnCache()
  const { PATH } = process.env
  const peer: Arm = { ...serverArm('peer'), requires: { kind: 'npm', packages: { peer: '1.2.3' } } }
  const told: string[] = []
  // Without npm on PATH. Nothing is measured, since the run is aborted before the first round.
  process.env['PATH'] = ''
  try {
    const signal = AbortSignal.abort()
    const onInstall = (arm: Arm) => void told.push(arm.name)
    const result = await bench(scenarioOf([peer]), { quick: true, timing: tiny, command: 'test', signal, onInstall })
    assert.deepEqual(told, ['peer'])
    assert.ok(result.notes.some((note) => note.startsWith('Left out: peer, since peer 1.2.3 could not be installed')))
  } finally {
    process.env['PATH'] = PATH
  }
})

/** The schema requires all keys and allows no others, so this compares both directions. */
async function problems(result: Result): Promise<unknown[]> {
  const schema = JSON.parse(await readFile(new URL('../schema.json', import.meta.url), 'utf8')) as object
  const ajv = new Ajv2020({
    allErrors: true,
    strictTuples: false,
    formats: { 'date-time': /^\d{4}-\d\d-\d\dT[\d:.]+Z$/ },
  })
  const validate = ajv.compile(schema)
  validate(JSON.parse(JSON.stringify(result)))
  return validate.errors ?? []
}
