import { resolve } from 'node:path'
import { locateApp } from '../config/locate.ts'
import { BusbarError } from '../contract/errors.ts'
import type { AppStatus, InstanceFigures, WorkerFigures } from '../observe/status.ts'
import { askStatus } from '../supervisor/admin/admin-client.ts'
import { findSockets, runtimeFolder } from '../supervisor/admin/admin-socket.ts'
import { alignColumns } from './columns.ts'
import type { Context } from './context.ts'
import { type Output, paint, print } from './terminal.ts'

/** `busbar ps`: what runs of the app of a folder, and how it does. */
export async function ps({ operand, flags, terminal }: Context): Promise<number> {
  const { root } = await locateApp(resolve(terminal.cwd, operand ?? '.'))
  const runs = await statusOfRuns(root, terminal.env)
  print(
    terminal.out,
    flags.json ? JSON.stringify({ runs }, undefined, 2) : runs.map((run) => textOf(run, terminal.out)).join('\n\n'),
  )
  return 0
}

/** Rejects where no run answers. One that has ended meanwhile, or was killed, is none. */
async function statusOfRuns(root: string, env: NodeJS.ProcessEnv): Promise<AppStatus[]> {
  const found = findSockets(runtimeFolder(env), root)
  const asked = await Promise.allSettled(found.map(({ path }) => askStatus(path)))
  const runs = asked.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
  if (runs.length > 0) return runs.toSorted((one, other) => one.app.startedAt - other.app.startedAt)
  const late = found.filter((_, at) => isLate(asked[at]!)).map(({ pid }) => pid)
  throw new BusbarError('APP_NOT_RUNNING', {
    message:
      late.length > 0 ? `the app in ${root} (process ${late.join(', ')}) does not answer` : `no app runs in ${root}`,
    hint: 'Give the folder of its config; apps of other users, and those in other containers, cannot be seen.',
  })
}

function isLate(asked: PromiseSettledResult<AppStatus>): boolean {
  return asked.status === 'rejected' && BusbarError.is(asked.reason, 'DEADLINE_EXCEEDED')
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
  return [title, ...readyLines(run, out), '', ...table, ...queueLines(run)].join('\n')
}

function rowOf(worker: WorkerFigures, out: Output, instance?: InstanceFigures): string[] {
  return [
    worker.kind === 'process' || worker.kind === 'command' ? `${worker.kind} ${worker.pid ?? '–'}` : worker.name,
    stateText(worker, out),
    percentText(worker.cpu),
    memoryText(worker.memory),
    percentText(worker.eventLoopUtilization),
    instance === undefined ? '–' : numberText(instance.callsPerSecond),
    instance === undefined ? '–' : numberText(instance.inFlight),
    restartsText(worker),
  ]
}

function spareRows({ name, spare }: WorkerFigures, out: Output): string[][] {
  if (spare === null) return []
  const state = spare.state === 'ready' ? 'spare' : 'spare, starting'
  return [[name, paint(out, 'dim', state), '–', memoryText(spare.memory), '–', '–', '–', '–']]
}

function readyLines({ app: { ready, unready } }: AppStatus, out: Output): string[] {
  return ready ? [] : [paint(out, 'yellow', `not ready: ${unready.join(', ')}`)]
}

/** Only where something waits, or had to be refused. */
function queueLines({ services }: AppStatus): string[] {
  const lines = services
    .filter(({ waiting, shed }) => waiting + shed > 0)
    .map(({ service, waiting, shed }) => `${service}: ${waiting} calls wait, ${shed} were refused`)
  return lines.length === 0 ? [] : ['', ...lines]
}

function stateText({ state, silentFor, startsIn }: WorkerFigures, out: Output): string {
  if (state === 'serving') return paint(out, 'green', state)
  if (state === 'blocked') return paint(out, 'red', `blocked for ${spanText(silentFor ?? 0)}`)
  return paint(out, 'yellow', startsIn === null ? state : `waiting, starts in ${spanText(startsIn)}`)
}

function restartsText({ restarts, lastExit }: WorkerFigures): string {
  return lastExit === null ? `${restarts}` : `${restarts}, the last since ${lastExit.text}`
}

function memoryText(bytes: number | null): string {
  return bytes === null ? '–' : `${(bytes / 1024 ** 2).toFixed(1)} MB`
}

function percentText(share: number | null): string {
  return share === null ? '–' : `${Math.round(share * 100)} %`
}

function numberText(value: number): string {
  return Math.round(value).toLocaleString('en')
}

function spanText(milliseconds: number): string {
  const seconds = Math.round(milliseconds / 1000)
  if (seconds < 100) return `${seconds} s`
  const minutes = Math.round(seconds / 60)
  if (minutes < 100) return `${minutes} min`
  const hours = Math.round(minutes / 60)
  return hours < 48 ? `${hours} h` : `${Math.round(hours / 24)} d`
}
