import type * as z from 'zod'
import { describeApp } from '../../../supervisor/admin/operations/describe.ts'
import { findRun } from '../../admin/find-runs.ts'
import { printResult } from '../../admin/print-result.ts'
import type { CommandContext } from '../../command.ts'
import { edgeLines } from './edge-lines.ts'
import { alignColumns } from '../../terminal/columns.ts'
import { type Output, paint } from '../../terminal/terminal.ts'
import { memoryText } from '../../terminal/units.ts'

type Description = z.output<typeof describeApp.output>

/** `busbar describe`: shows the resolved config of a running app. */
export async function describe(context: CommandContext): Promise<number> {
  const { admin } = await findRun(context.operands[0], context)
  const description = await admin.json(describeApp, {}, { timeout: 10_000 })
  printResult(context, description, textOf(description, context.terminal.out))
  return 0
}

function textOf(app: Description, out: Output): string {
  const title = `${paint(out, 'bold', app.name)} ${paint(out, 'dim', `${app.root}, process ${app.process.pid}`)}`
  const about = alignColumns([
    ['config', app.configFile ?? '(none)'],
    ['node', `${app.process.node} ${paint(out, 'dim', app.process.execPath)}`],
    ['command', commandText(app)],
    ['workers', `${app.workers}`],
    ['stop timeout', `${app.stopTimeout} ms`],
    ...app.addresses.map(({ url, serves }) => [`serves ${serves}`, url]),
    ...app.adminUrls.map((url) => ['admin', url]),
    ...app.routes.map(({ host, prefix, service }) => ['route', `${host ?? ''}${prefix} → ${service}`]),
  ])
  const services = app.services.flatMap((service) => ['', ...serviceLines(service, out)])
  const schedule = app.schedule.flatMap((entry) => ['', ...scheduleLines(entry, out)])
  const edges = edgeLines(app.edges, out, shownEdges)
  return [title, '', ...about, ...services, ...schedule, ...edges].join('\n')
}

/** JSON has all. */
const shownEdges = 100

/** Runs that are shown; JSON has more. */
const shownRuns = 5

function scheduleLines(entry: Description['schedule'][number], out: Output): string[] {
  const { name, cron, timeZone, target, next, succeeded, failed, runs } = entry
  const rows = [
    ['cron', `${cron}${timeZone === null ? '' : ` in ${timeZone}`}`],
    ['runs', target],
    ['next', next === null ? 'never' : timeText(next)],
    ['so far', `${succeeded} succeeded, ${failed} failed`],
    ...runs
      .slice(-shownRuns)
      .map(({ planned, outcome, took, error }) => [
        timeText(planned),
        `${outcome}${took === null ? '' : ` in ${took} ms`}${error === null ? '' : `: ${error}`}`,
      ]),
  ]
  return [`${paint(out, 'bold', name)} (schedule)`, ...alignColumns(rows).map((line) => `  ${line}`)]
}

function timeText(time: number): string {
  return new Date(time).toISOString()
}

function commandText({ command }: Description): string {
  if (command === null) return 'a program, by startApp()'
  return `busbar ${command.mode}${command.isDetached ? ' -d' : ''} ${command.args.join(' ')}`
}

function serviceLines(service: Description['services'][number], out: Output): string[] {
  const rows = [
    ['runs', `${service.run}${service.group === null ? '' : ` of ${service.group}`}, instances: ${service.instances}`],
    ['entry', `${service.entry} ${paint(out, 'dim', `(${service.foundBy})`)}`],
    ['folder', service.path],
    ...(service.needs.length > 0 ? [['needs', service.needs.join(', ')]] : []),
    ...(service.concurrency === null ? [] : [['concurrency', `${service.concurrency}`]]),
    ...(service.memory === null ? [] : [['memory', memoryText(service.memory)]]),
    ...Object.entries(service.env).map(([name, value]) => ['env', `${name}=${value}`]),
  ]
  return [`${paint(out, 'bold', service.name)} (${service.kind})`, ...alignColumns(rows).map((line) => `  ${line}`)]
}
