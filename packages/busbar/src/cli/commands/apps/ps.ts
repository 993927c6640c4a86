import type { AppStatus, InstanceStats, WorkerStats } from '../../../observe/app-status.ts'
import type { FoundSocket } from '../../../supervisor/admin/admin-socket.ts'
import { readStartRecord } from '../../../supervisor/admin/start-record.ts'
import { findRuns, listRuns } from '../../admin/find-runs.ts'
import type { CommandContext } from '../../command.ts'
import { alignColumns } from '../../terminal/columns.ts'
import { remoteLines } from '../../terminal/remotes.ts'
import { type Output, paint, print } from '../../terminal/terminal.ts'
import { oneLine } from '../../../shared/output/printable.ts'
import { memoryText, numberText, percentText, spanText } from '../../terminal/units.ts'

/** `busbar ps`: lists the running apps, or shows the instances of one. */
export async function ps(context: CommandContext): Promise<number> {
  const { operands, flags, terminal } = context
  const [named] = operands
  const found =
    named === undefined
      ? await listRuns(terminal.env)
      : { runs: await findRuns(named, context), silent: [], waiting: [] }
  const runs = found.runs.map(({ status }) => status)
  const silent = found.silent.map(silentRun)
  const waiting = found.waiting.map(({ name, root, pid }) => ({ name, root, pid }))
  if (flags.json) print(terminal.out, JSON.stringify({ runs, silent, waiting }, undefined, 2))
  else
    print(
      terminal.out,
      named === undefined ? listText(runs, terminal.out, { silent, waiting }) : detailText(runs, terminal.out),
    )
  return 0
}

/**
 * An app whose supervisor is stuck, suspended or not there. Name and folder are null if `startApp`
 * started it.
 */
interface SilentRun {
  readonly name: string | null
  readonly root: string | null
  readonly pid: number
}

function silentRun({ path, pid }: FoundSocket): SilentRun {
  const { name = null, root = null } = readStartRecord(path) ?? {}
  return { name, root, pid }
}

/** All instances of each run. */
export function detailText(runs: readonly AppStatus[], out: Output): string {
  return runs.map((run) => textOf(run, out)).join('\n\n')
}

const listHeads = ['app', 'process', 'state', 'services', 'instances', 'cpu', 'memory', 'restarts', 'up', 'folder']

const noOthers: { readonly silent: readonly SilentRun[]; readonly waiting: readonly SilentRun[] } = {
  silent: [],
  waiting: [],
}

/** One line for each app. */
export function listText(runs: readonly AppStatus[], out: Output, { silent, waiting } = noOthers): string {
  if (runs.length + silent.length + waiting.length === 0) return 'no app runs'
  const rows = runs.map(({ app, workers, services, instances }) => [
    paint(out, 'bold', app.name),
    `${app.pid}`,
    readinessText(app, out),
    `${services.length}`,
    `${instances.length}`,
    percentText(sumOf(workers.map(({ cpu }) => cpu))),
    memoryText(sumOf(workers.map(({ memory }) => memory))),
    `${workers.reduce((sum, { restarts }) => sum + restarts, 0)}`,
    spanText(Date.now() - app.startedAt),
    paint(out, 'dim', placeOf(app, runs)),
  ])
  const others = [
    ...silent.map((run) => otherRow(run, 'does not answer', out)),
    ...waiting.map((run) => otherRow(run, 'waits for its restart', out)),
  ]
  const heads = listHeads.map((head) => paint(out, 'dim', head))
  return alignColumns([heads, ...rows, ...others]).join('\n')
}

/** The folder, or the program where several of one folder run. */
function placeOf({ root, file, name }: AppStatus['app'], runs: readonly AppStatus[]): string {
  const isAlone = runs.every(({ app }) => app.root !== root || app.name !== name || app.file === file)
  return isAlone ? root : file
}

function otherRow({ name, root, pid }: SilentRun, what: string, out: Output): string[] {
  const unknown = listHeads.slice(3, -1).map(() => '–')
  const state = paint(out, 'red', what)
  return [paint(out, 'bold', name ?? '–'), `${pid}`, state, ...unknown, paint(out, 'dim', root ?? '–')]
}

function readinessText({ ready, phase, unready }: AppStatus['app'], out: Output): string {
  if (ready) return paint(out, 'green', 'ready')
  return paint(out, 'yellow', phase === 'running' ? `not ready: ${unready.join(', ')}` : phase)
}

/** Of those that are known. */
function sumOf(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null)
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0)
}

const heads = ['service', '#', 'runs in', 'state', 'cpu', 'memory', 'loop', 'calls/s', 'in flight', 'restarts']

function textOf(run: AppStatus, out: Output): string {
  const { app, workers, instances } = run
  const rows = instances.flatMap((instance) => {
    const worker = workers.find((one) => one.worker === instance.worker)!
    const name = [paint(out, 'bold', instance.service), `${instance.instance}`]
    return [[...name, ...rowOf(worker, out, instance)], ...spareRows(worker, out).map((row) => [...name, ...row])]
  })
  const idle = workers.filter(({ worker }) => !instances.some((one) => one.worker === worker))
  const gateways = idle.map((worker) => [paint(out, 'dim', '(gateway)'), '', ...rowOf(worker, out)])
  const title = `${paint(out, 'bold', app.name)} ${paint(out, 'dim', `${app.root}, process ${app.pid}, up ${spanText(Date.now() - app.startedAt)}`)}`
  const table = alignColumns([heads.map((head) => paint(out, 'dim', head)), ...rows, ...gateways])
  const remotes = remoteLines(run, out)
  const parts = [title, ...readyLines(run, out), '', ...table, ...queueLines(run)]
  return [...parts, ...(remotes.length > 0 ? ['', ...remotes] : [])].join('\n')
}

function rowOf(worker: WorkerStats, out: Output, instance?: InstanceStats): string[] {
  return [
    worker.kind === 'process' || worker.kind === 'command' ? `${worker.kind} ${worker.pid ?? '–'}` : worker.name,
    stateText(worker, out, instance),
    percentText(worker.cpu),
    memoryText(worker.memory),
    percentText(worker.eventLoopUtilization),
    instance === undefined ? '–' : numberText(instance.callsPerSecond),
    instance === undefined ? '–' : numberText(instance.inFlight),
    restartsText(worker),
  ]
}

function spareRows({ name, spare }: WorkerStats, out: Output): string[][] {
  if (spare === null) return []
  const state = spare.state === 'ready' ? 'spare' : 'spare, starting'
  return [[name, paint(out, 'dim', state), '–', memoryText(spare.memory), '–', '–', '–', '–']]
}

function readyLines({ app, instances }: AppStatus, out: Output): string[] {
  const unhealthy = instances.filter((one) => one.unhealthy !== null)
  return [
    ...(app.ready ? [] : [readinessText(app, out)]),
    ...unhealthy.map(({ service, instance, unhealthy: why }) =>
      paint(out, 'red', `${service} ${instance}: ${oneLine(why!)}`),
    ),
  ]
}

/** Only services with waiting or refused calls. */
function queueLines({ services }: AppStatus): string[] {
  const lines = services
    .filter(({ waiting, shed }) => waiting + shed > 0)
    .map(({ service, waiting, shed }) => `${service}: ${waiting} calls waiting, ${shed} refused`)
  return lines.length === 0 ? [] : ['', ...lines]
}

function stateText({ state, silentFor, startsIn }: WorkerStats, out: Output, instance?: InstanceStats): string {
  if (instance !== undefined && instance.unhealthy !== null) return paint(out, 'red', 'unhealthy')
  if (state === 'serving') return paint(out, 'green', state)
  if (state === 'blocked') return paint(out, 'red', `blocked for ${spanText(silentFor ?? 0)}`)
  return paint(
    out,
    'yellow',
    startsIn === null ? state : `waiting, starts ${startsIn < 500 ? 'at once' : `in ${spanText(startsIn)}`}`,
  )
}

function restartsText({ restarts, lastExit }: WorkerStats): string {
  return lastExit === null ? `${restarts}` : `${restarts}, last: ${oneLine(lastExit.text)}`
}
