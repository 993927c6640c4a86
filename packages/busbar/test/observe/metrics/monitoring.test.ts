import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { test } from 'node:test'
import { formatMetrics, metrics } from '../../../src/observe/metrics/metrics.ts'
import { TestApp } from '../../support/app/test-app.ts'
import { TestFolder } from '../../support/app/test-folder.ts'
import { hasCommand } from '../../support/has-command.ts'

const file = (name: string): string => fileURLToPath(new URL(`../../../../../docs/monitoring/${name}`, import.meta.url))
/** `.ci/run` fetches one. */
const promtool = process.env['BUSBAR_PROMTOOL'] ?? 'promtool'
const skip = hasCommand(promtool) ? false : 'no promtool on PATH'

for (const name of ['alerts.yaml', 'dashboard.json'])
  test(`docs/monitoring/${name} uses only metrics and labels that there are`, () => {
    const text = readFileSync(file(name), 'utf8')
    const used = new Set(text.match(/\b(?:busbar|http|rpc|process|nodejs|v8js)_\w+/g))
    const labels = new Set(metrics.flatMap((metric) => metric.labels))
    const known = new Set(
      metrics.flatMap(({ name: one, type }) =>
        type === 'histogram' ? ['_bucket', '_sum', '_count'].map((suffix) => one + suffix) : [one],
      ),
    )
    const unknown = [...used].filter((one) => !known.has(one) && !labels.has(one))
    assert.deepEqual(unknown, [])
    assert.ok(used.size > 5)
  })

test('the board is what Grafana imports', () => {
  const { title, panels } = JSON.parse(readFileSync(file('dashboard.json'), 'utf8')) as {
    title: string
    panels: { id: number; title: string; targets: { expr: string }[] }[]
  }
  assert.equal(title, 'Busbar')
  assert.equal(new Set(panels.map(({ id }) => id)).size, panels.length)
  assert.ok(panels.every((panel) => panel.targets.every(({ expr }) => expr.includes('$job'))))
})

test('promtool accepts the metrics of an app', { skip }, async () => {
  const any = `${import.meta.dirname}/../../supervisor/programs/any.js`
  await using app = await TestApp.start({ services: { any } })
  await (await fetch(app.url)).text()
  const { status, stdout, stderr } = spawnSync(promtool, ['check', 'metrics'], {
    input: formatMetrics(app.running.status()),
    encoding: 'utf8',
  })
  assert.deepEqual([stdout, stderr, status], ['', '', 0])
})

test('promtool accepts the alert rules', { skip }, () => {
  const { status, stdout, stderr } = spawnSync(promtool, ['check', 'rules', file('alerts.yaml')], { encoding: 'utf8' })
  assert.equal(status, 0, stdout + stderr)
  assert.match(stdout, /SUCCESS: 7 rules found/)
})

/** By the status of its calls: a command counts no calls itself, and so has only edges. */
const failing = [
  ['a command that answers 500 to each of ten requests', '500', '10x10', 'web', true],
  ['calls without an answer', 'none', '10x10', 'web', true],
  ['a service that answers 404', '404', '10x10', 'web', false],
] as const

for (const [what, status, values, callee, fires] of failing)
  test(`the alert of failures ${fires ? 'fires' : 'does not fire'} for ${what}`, { skip }, () => {
    using folder = new TestFolder()
    const labels = `job="busbar",caller="",callee="${callee}",protocol="http",method="GET",route="/",transport="tcp",status="${status}"`
    const alert = {
      exp_labels: { severity: 'critical', job: 'busbar', callee },
      exp_annotations: { summary: `100% of the calls to ${callee} fail` },
    }
    const tests = {
      rule_files: [file('alerts.yaml')],
      evaluation_interval: '1m',
      tests: [
        {
          interval: '1m',
          input_series: [{ series: `busbar_edge_calls_total{${labels}}`, values: `0+${values}` }],
          alert_rule_test: [{ eval_time: '10m', alertname: 'BusbarFailures', exp_alerts: fires ? [alert] : [] }],
        },
      ],
    }
    folder.write('tests.yaml', JSON.stringify(tests))
    const args = ['test', 'rules', `${folder.path}/tests.yaml`]
    const run = spawnSync(promtool, args, { encoding: 'utf8' })
    assert.equal(run.status, 0, run.stdout + run.stderr)
  })
