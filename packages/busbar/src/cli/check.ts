import type { App, Route, Service } from '../config/app.ts'
import type { Hazard } from '../config/hazards/hazard.ts'
import { acceleratorsText, type AcceleratorState } from '../shared/accelerators.ts'
import { BusbarError } from '../contract/errors.ts'
import type { Place } from '../supervisor/plan.ts'
import { entryText, runsText, servesText } from './banner.ts'
import { alignColumns } from './columns.ts'
import { probeAccelerators } from './accelerators.ts'
import type { Context } from './context.ts'
import { resolveOperand } from './session.ts'
import { type Output, paint, print } from './terminal.ts'

/** `busbar check`: prints the resolved plan, as a table or as JSON. Starts nothing. */
export async function check(context: Context): Promise<number> {
  const { flags, terminal, parts } = context
  try {
    const app = await parts.loadApp(resolveOperand(context), { env: terminal.env, overrides: flags })
    const report = await describe(app, context)
    print(terminal.out, flags.json ? JSON.stringify(report, undefined, 2) : tableText(report, app, terminal.out))
    return 0
  } catch (error) {
    if (flags.json) print(terminal.out, JSON.stringify({ ok: false, error: recordOf(error) }, undefined, 2))
    throw error
  }
}

/** What `--json` prints. Keys are only ever added. */
export interface CheckReport {
  readonly ok: true
  readonly app: { readonly name: string; readonly root: string; readonly config: string | null }
  /** The shared ones; the first of the places. */
  readonly workers: number
  readonly places: readonly PlaceRow[]
  readonly accept: App['accept']
  readonly listeners: readonly ListenerRow[]
  /** In the order they start. */
  readonly services: readonly ServiceRow[]
  readonly accelerators: readonly AcceleratorState[]
  readonly warnings: readonly Hazard[]
}

export interface ListenerRow {
  readonly id: string
  readonly url: string
  readonly serves: string
  /** The file, of a gateway that speaks TLS. */
  readonly certificate?: string
}

/** A thread or process of the app. */
export interface PlaceRow {
  readonly name: string
  readonly kind: Place['kind']
  /** The services it hosts. */
  readonly hosts: readonly string[]
}

export interface ServiceRow {
  readonly name: string
  readonly run: Service['run']
  readonly group: string | null
  readonly instances: number
  readonly path: string
  readonly entry: string
  readonly foundBy: string
  readonly address: string
  readonly routes: readonly string[]
  /** Those of `routes` whose path is passed on as it came: `strip: false`. */
  readonly unstripped: readonly string[]
  readonly needs: readonly string[]
}

async function describe(app: App, { parts }: Context): Promise<CheckReport> {
  const plan = parts.planApp(app)
  return {
    ok: true,
    app: { name: app.name, root: app.root, config: app.configFile ?? null },
    workers: plan.places.filter(({ kind }) => kind === 'shared').length,
    places: plan.places.map(({ name, kind, hosts }) => ({ name, kind, hosts: hosts.map((host) => host.name) })),
    accept: plan.accept,
    listeners: plan.listeners.map(({ id, host, port, serves }) => {
      const tls = id === 'gateway' ? app.gateway.tls : undefined
      const url = `${tls ? 'https' : 'http'}://${hostText(host)}:${port}`
      return { id, url, serves: servesText(serves, app), ...(tls && { certificate: tls.cert }) }
    }),
    services: app.services.map((service) => toRow(app, service)),
    accelerators: await probeAccelerators(app),
    warnings: await parts.findHazards(app),
  }
}

function toRow({ gateway }: App, { name, run, group, instances, path, entry, needs }: Service): ServiceRow {
  const own = gateway.routes.filter(({ service }) => service === name)
  const pattern = ({ host, prefix }: Route): string => `${host ?? ''}${prefix}/*`
  const routes = own.map(pattern)
  return {
    name,
    run,
    group: group ?? null,
    instances,
    path,
    entry: entry.file,
    foundBy: entry.foundBy,
    address: `http://${name}.internal`,
    routes: gateway.entry === name ? [...routes, '/*'] : routes,
    unstripped: own.filter(({ strip }) => strip === false).map(pattern),
    needs,
  }
}

function tableText({ listeners, services, accelerators, warnings }: CheckReport, app: App, out: Output): string {
  const head = ['service', 'runs', 'entry', 'found by', 'address', 'routes', 'needs'].map((name) =>
    paint(out, 'dim', name),
  )
  const rows = services.map((row, index) => [
    paint(out, 'bold', row.name),
    runsText(app, app.services[index]!),
    entryText(app, app.services[index]!),
    row.foundBy,
    row.address,
    row.routes.map((route) => (row.unstripped.includes(route) ? `${route} (strip: false)` : route)).join(' ') || '–',
    row.needs.join(' ') || '–',
  ])
  const doors = listeners.map(({ url, serves }) => [paint(out, 'green', url), serves])
  const hazards = warnings.map(
    ({ code, message, hint }) =>
      `${paint(out, 'yellow', 'warning:')} ${message} ${paint(out, 'dim', `(${code})`)}\n  ${paint(out, 'cyan', 'hint:')} ${hint}`,
  )
  const source = paint(out, 'dim', app.configFile ?? `${app.root} (a program without a config)`)
  const groups = [
    [`${paint(out, 'bold', app.name)} ${source}`],
    alignColumns([head, ...rows]),
    alignColumns(doors),
    [paint(out, 'dim', `accelerators ${acceleratorsText(accelerators)}`)],
    hazards,
  ]
  return groups
    .filter((group) => group.length > 0)
    .map((group) => group.join('\n'))
    .join('\n\n')
}

function hostText(host: string): string {
  return host.includes(':') ? `[${host}]` : host
}

function recordOf(thrown: unknown): object {
  const { stack: _, ...record } = BusbarError.from(thrown).toRecord()
  return record
}
