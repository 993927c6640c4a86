import { resolve } from 'node:path'
import { BusbarError } from '../contract/errors.ts'
import { isTimeZone, whyNotCron } from '../shared/time/cron-times.ts'
import type { ScheduleEntry, ScheduleTarget, Service } from './app.ts'
import { closestPath, pathKind } from './file/file-lookup.ts'
import { nearest } from './nearest.ts'
import type { Problems } from './problems.ts'
import type { ParsedConfig } from './schema/app-schema.ts'
import type { ParsedEntry } from './schema/schedule-schema.ts'

interface ScheduleContext {
  readonly root: string
  readonly config: ParsedConfig
  readonly services: readonly Service[]
  /** Also of services that have problems. */
  readonly names: readonly string[]
}

/** Checks the entries, and resolves what they run. */
export async function resolveSchedule(context: ScheduleContext, problems: Problems): Promise<ScheduleEntry[]> {
  const resolved: ScheduleEntry[] = []
  for (const [name, entry] of Object.entries(context.config.schedule ?? {})) {
    const found = await problems.collect(() => resolveEntry(name, entry, context))
    if (found !== undefined) resolved.push(found)
  }
  return resolved
}

async function resolveEntry(name: string, entry: ParsedEntry, context: ScheduleContext): Promise<ScheduleEntry> {
  const { cron, timeZone, overlap, jitter, missed, timeout } = entry
  if (timeZone !== undefined && !isTimeZone(timeZone))
    throw invalid(
      name,
      `timeZone is ${JSON.stringify(timeZone)}, which is not a time zone`,
      'Write "Europe/Berlin" or "UTC".',
    )
  const why = whyNotCron(cron, timeZone)
  if (why !== undefined)
    throw invalid(name, `cron is ${JSON.stringify(cron)}: ${why}`, 'Write "0 3 * * *" for every day at three.')
  return { name, cron, timeZone, overlap, jitter, missed, timeout, target: await targetOf(name, entry, context) }
}

async function targetOf(name: string, entry: ParsedEntry, context: ScheduleContext): Promise<ScheduleTarget> {
  const { call, request, task, input } = entry
  const given = [call, request, task].filter((one) => one !== undefined)
  if (given.length !== 1)
    throw invalid(name, `it has ${given.length} of call, request and task`, 'Give it one of them.')
  if (call !== undefined) {
    const [service, method] = call.split('.') as [string, string]
    checkService(name, service, true, context)
    return { kind: 'call', service, method, input }
  }
  if (request !== undefined) {
    const [, verb, service, path] = /^([A-Z]+) http:\/\/([^/]+)\.internal(\/\S*)$/.exec(request)!
    checkService(name, service!, false, context)
    const body = input === undefined ? undefined : JSON.stringify(input)
    return { kind: 'request', service: service!, verb: verb!, path: path!, body }
  }
  if (input !== undefined) throw invalid(name, 'a task takes no input', 'Give it variables: defaults.env.')
  return { kind: 'task', file: await taskFile(name, task!, context.root), env: context.config.defaults.env ?? {} }
}

function checkService(entry: string, service: string, typed: boolean, { services, names }: ScheduleContext): void {
  if (!names.includes(service)) {
    const near = nearest(service, names)
    throw invalid(
      entry,
      `there is no service ${JSON.stringify(service)}${near === undefined ? '' : `; the nearest is ${near}`}`,
      `The services are ${names.join(', ')}.`,
    )
  }
  const kind = services.find(({ name }) => name === service)?.kind
  if (typed && kind !== undefined && kind !== 'typed')
    throw invalid(entry, `service '${service}' is a ${kind} and has no methods`, 'Send it a request: "POST http://…".')
}

async function taskFile(entry: string, task: string, root: string): Promise<string> {
  const file = resolve(root, task)
  if ((await pathKind(file)) === 'file') return file
  const near = await closestPath(file)
  throw invalid(
    entry,
    `there is no file ${file}${near === undefined ? '' : `; the nearest is ${near}`}`,
    'Give the path of the module with its extension, relative to the folder of the config.',
  )
}

function invalid(entry: string, what: string, hint: string): BusbarError {
  return new BusbarError('CONFIG_INVALID', { message: `schedule.${entry}: ${what}`, hint })
}
