import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Arm } from '../../src/arm.ts'
import { cellsOf, leftOut } from '../../src/scenarios/cells.ts'
import { scenarios } from '../../src/scenarios/index.ts'
import type { Scenario } from '../../src/scenarios/scenario.ts'

const arm = (name: string, more: Partial<Arm> = {}): Arm => ({
  name,
  title: name,
  launch: () => ({ command: ['true'], target: { path: '/' } }),
  ...more,
})

const scenario: Scenario = {
  name: 'sums',
  question: 'Who adds fastest?',
  baseline: 'one',
  arms: [arm('two'), arm('one'), arm('alone', { single: true }), arm('peer', { onlyWhenAsked: true })],
  quick: { arms: ['two'], workers: [2] },
  connections: [10, 100],
  workers: [1, 2],
  parameters: { of: 7 },
  request: ({ of }) => ({ path: `/sum?of=${of}` }),
  variants: {
    large: { title: 'large sums', request: ({ of = 0 }) => ({ path: `/sum?of=${of * 1000}` }), connections: [1] },
    reconnecting: { title: 'reconnecting', work: { reconnect: true } },
  },
}

const names = (choice: Parameters<typeof cellsOf>[1]) => cellsOf(scenario, choice).map((cell) => cell.name)
const paths = (choice: Parameters<typeof cellsOf>[1]) =>
  new Set(cellsOf(scenario, choice).flatMap(({ work }) => work.requests.map((request) => request.path)))

test('there is a cell per arm, number of workers and of connections, and a control for the baseline', () => {
  assert.deepEqual(names({ quick: false, arms: ['two'], connections: [10] }), [
    'one, 1 worker',
    'two, 1 worker',
    'one, 1 worker (again)',
    'one, 2 workers',
    'two, 2 workers',
    'one, 2 workers (again)',
  ])
  assert.equal(names({ quick: false, arms: ['two'] }).length, 12)
})

test('each cell and the control are compared with the baseline at the same parameters', () => {
  for (const cell of cellsOf(scenario, { quick: false }).filter(({ baseline }) => baseline !== undefined))
    assert.equal(cell.baseline, baselineOf(cell.name))

  function baselineOf(name: string): string {
    if (name.startsWith('alone')) return name.replace('alone', 'one, 1 worker')
    return name.replace(/^\w+/, 'one').replace(' (again)', '')
  }
})

test('the control may be of another arm, and its latency is measured at the rate of all others', () => {
  const cells = cellsOf({ ...scenario, control: 'two' }, { quick: false, workers: [1], connections: [10] })
  assert.deepEqual(
    cells.filter(({ control }) => control).map(({ name, baseline, ratedBy }) => [name, baseline, ratedBy]),
    [['two (again)', 'two', 'one']],
  )
  assert.deepEqual(new Set(cells.map(({ ratedBy }) => ratedBy)), new Set(['one']))
})

test('an arm that ignores the number of workers is measured once', () => {
  const found = names({ quick: false, connections: [10], workers: [1, 2] })
  assert.deepEqual(
    found.filter((name) => name.startsWith('alone')),
    ['alone'],
  )
})

test('a baseline that ignores the number of workers is compared with all numbers', () => {
  const cells = cellsOf({ ...scenario, baseline: 'alone' }, { quick: false, arms: ['two'], connections: [10] })
  assert.deepEqual(
    cells.map(({ name, baseline }) => [name, baseline]),
    [
      ['alone', undefined],
      ['two, 1 worker', 'alone'],
      ['alone (again)', 'alone'],
      ['two, 2 workers', 'alone'],
    ],
  )
})

test('peers run only if requested', () => {
  assert.ok(!names({ quick: false }).some((name) => name.startsWith('peer')))
  assert.ok(names({ quick: true, arms: ['peer'] }).some((name) => name.startsWith('peer')))
})

test('a quick run has few cells, and notes what it leaves out', () => {
  assert.deepEqual(names({ quick: true, connections: [10] }), ['one', 'two', 'one (again)'])
  assert.deepEqual(leftOut(scenario, { quick: true }), ['Left out by --quick: arms alone; workers 1.'])
  assert.deepEqual(leftOut(scenario, { quick: false }), [])
})

test('parameters apply to the request, also of a variant', () => {
  assert.deepEqual(paths({ quick: true }), new Set(['/sum?of=7']))
  assert.deepEqual(paths({ quick: true, parameters: { of: 3 } }), new Set(['/sum?of=3']))
  assert.deepEqual(paths({ quick: true, parameters: { of: 3 }, variant: 'large' }), new Set(['/sum?of=3000']))
})

test('a variant changes only what it sets', () => {
  const [cell] = cellsOf(scenario, { quick: true, variant: 'reconnecting' })
  assert.equal(cell?.work.reconnect, true)
  assert.deepEqual(cell?.work.requests, [{ path: '/sum?of=7' }])
  assert.equal(cellsOf(scenario, { quick: true, variant: 'large' })[0]?.work.connections, 1)
})

test('an arm may translate the request', () => {
  const translated = { ...scenario, arms: [arm('one', { translate: ({ path }) => ({ path: `/rpc${path}` }) })] }
  const [cell] = cellsOf(translated, { quick: false, arms: [] })
  assert.deepEqual(cell?.work.requests, [{ path: '/rpc/sum?of=7' }])
})

test('an unknown name is refused with a list of known ones', () => {
  assert.throws(() => names({ quick: true, arms: ['three'] }), /no arm "three"; it has two, one, alone, peer/)
  assert.throws(() => names({ quick: true, variant: 'small' }), /no work "small"; it has large, reconnecting/)
  assert.throws(() => names({ quick: true, parameters: { by: 1 } }), /no parameter "by"; it has of/)
})

test('the baseline and quick arms of every scenario exist and have no requirements', () => {
  for (const each of scenarios.values()) {
    const arms = new Map(each.arms.map((one) => [one.name, one]))
    assert.equal(arms.size, each.arms.length, `${each.name} names an arm twice`)
    for (const name of [each.baseline, ...each.quick.arms]) {
      assert.ok(arms.has(name), `${each.name} has no arm ${name}`)
      assert.equal(arms.get(name)?.onlyWhenAsked, undefined, `${name} is a peer`)
    }
    assert.equal(arms.get(each.baseline)?.requires, undefined)
  }
})
