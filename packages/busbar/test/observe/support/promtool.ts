import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { hasCommand } from '../../support/has-command.ts'

const promtool = process.env['BUSBAR_PROMTOOL'] ?? 'promtool'
const hasPromtool = hasCommand(promtool)

/** That Prometheus can read the text. Does nothing without its tool. */
export function checkMetrics(metrics: string): void {
  if (!hasPromtool) return
  const { stdout, stderr } = spawnSync(promtool, ['check', 'metrics'], { input: metrics, encoding: 'utf8' })
  // Of names it has opinions, which are the service's own.
  assert.doesNotMatch(stdout + stderr, /error while linting|parsing error|text format/i)
}
