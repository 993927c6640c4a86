import { type App, prefersEntrance, type Route, type Service, usesEntrance } from '../../config/app.ts'
import type { Hazard } from '../../config/hazards/hazard.ts'
import { findHazards } from '../../config/hazards/find-hazards.ts'
import { loadApp } from '../../config/load.ts'
import { BusbarError } from '../../contract/errors.ts'
import { acceleratorsText, type AcceleratorState, defaultAccelerators } from '../../shared/accelerators.ts'
import { entranceLibrary, entrancePackage, findEntrance } from '../../entrance/load.ts'
import { AppCertificates } from '../../supervisor/accept/app-certificates.ts'
import { GatewayEntrance } from '../../supervisor/accept/gateway-entrance.ts'
import { type Plan, planApp, type SlotSpec } from '../../supervisor/plan.ts'
import { probeAccelerators } from '../../supervisor/runtimes/probe-thread.ts'
import { defaultTiming } from '../../supervisor/timing.ts'
import { addressText } from '../../shared/hosts.ts'
import { entryText, runsText, servesText } from '../terminal/banner.ts'
import { alignColumns } from '../terminal/columns.ts'
import type { CommandContext } from '../command.ts'
import { checkLive } from './apps/check-live.ts'
import { resolveOperand } from '../operand.ts'
import { type Output, paint, print } from '../terminal/terminal.ts'

/** `busbar check`: prints the resolved plan as a table or as JSON. Starts no service. */
export async function check(context: CommandContext): Promise<number> {
  const { flags, terminal } = context
  if (flags.live === true) return await checkLive(context)
  if (flags.pid !== undefined)
    throw new BusbarError('USAGE', {
      message: 'busbar check asks no process',
      hint: 'Write busbar check --live --pid <pid> to ask a running app.',
    })
  const app = await loadApp(resolveOperand(context), { env: terminal.env, overrides: flags })
  const report = await describe(app)
  print(terminal.out, flags.json ? JSON.stringify(report, undefined, 2) : tableText(report, app, terminal.out))
  return 0
}

/** The output of `--json`. Keys are only ever added. */
export interface CheckReport {
  readonly ok: true
  readonly app: { readonly name: string; readonly root: string; readonly config: string | null }
  /** The number of shared workers. Their slots come first in `places`. */
  readonly workers: number
  readonly places: readonly SlotRow[]
  readonly accept: App['accept']
  readonly listeners: readonly ListenerRow[]
  /** In start order. */
  readonly services: readonly ServiceRow[]
  /** Services of other apps. */
  readonly remotes: readonly RemoteRow[]
  readonly accelerators: readonly AcceleratorState[]
  readonly entrance: EntranceRow
  readonly warnings: readonly Hazard[]
}

export interface RemoteRow {
  readonly service: string
  /** `cluster` for all hosts of the cluster. */
  readonly addresses: readonly string[]
  readonly versions: Readonly<Record<string, number>> | null
}

export interface ListenerRow {
  readonly id: string
  readonly url: string
  readonly serves: string
  /** The certificate file, if the gateway terminates TLS. */
  readonly certificate?: string
}

export interface EntranceRow {
  /** The one that would serve. */
  readonly uses: 'native' | 'portable'
  /** The binary of the native entrance. Null: there is none here. */
  readonly binary: string | null
  /** Why the binary cannot serve this app or this version of Busbar: the portable gateway does. */
  readonly mismatch: string | null
}

/** A slot of the app: a thread or process. */
export interface SlotRow {
  readonly name: string
  readonly kind: SlotSpec['kind']
  /** The services that it hosts. */
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
  /** The `routes` with `strip: false`, which forward the path unchanged. */
  readonly unstripped: readonly string[]
  readonly needs: readonly string[]
}

async function describe(app: App): Promise<CheckReport> {
  const plan = planApp(app)
  return {
    ok: true,
    app: { name: app.name, root: app.root, config: app.configFile ?? null },
    workers: plan.slots.filter(({ kind }) => kind === 'shared').length,
    places: plan.slots.map(({ name, kind, hosts }) => ({ name, kind, hosts: hosts.map((host) => host.name) })),
    accept: plan.accept,
    listeners: listenerRows(app, plan),
    services: app.services.map((service) => toRow(app, service)),
    remotes: (app.remotes ?? []).map(({ name, addresses, inCluster, versions = null }) => ({
      service: name,
      addresses: [...addresses.map(addressText), ...(inCluster === true ? ['cluster'] : [])],
      versions,
    })),
    accelerators: await probeAccelerators(app.accelerators ?? defaultAccelerators),
    entrance: await entranceRow(app),
    warnings: await findHazards(app),
  }
}

function listenerRows(app: App, { listeners }: Plan): ListenerRow[] {
  const { admin } = app
  const rows = listeners.map(({ id, host, port, serves }): ListenerRow => {
    const tls = id === 'gateway' ? app.gateway.tls : undefined
    const protocol = serves.kind === 'export' ? app.export!.protocol : tls ? 'https' : 'http'
    const url = `${protocol}://${hostText(host)}:${port}`
    return { id, url, serves: servesText(serves, app), ...(tls && { certificate: tls.cert }) }
  })
  if (admin === undefined) return rows
  const url = `http://${hostText(admin.host)}:${admin.port}`
  return [...rows, { id: 'admin', url, serves: 'metrics, status and the dashboard' }]
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

/** Rejects with the error with which an app that needs the native entrance would not start. */
async function entranceRow(app: App): Promise<EntranceRow> {
  const binary = findEntrance() ?? null
  if (!usesEntrance(app) && (binary === null || !prefersEntrance(app)))
    return { uses: 'portable', binary, mismatch: null }
  if (binary === null) return { uses: 'native', binary, mismatch: null }
  const mismatch = await tryEntrance(app)
  return { uses: mismatch === null ? 'native' : 'portable', binary, mismatch }
}

/** Why the portable gateway would serve. Only the entrance knows which certificates it takes. */
async function tryEntrance(app: App): Promise<string | null> {
  const certificates = new AppCertificates()
  await certificates.read(app)
  try {
    const library = entranceLibrary()
    if (library.mismatch !== undefined) return library.mismatch
    const opened = GatewayEntrance.open(app, () => library, defaultTiming, certificates.tls)
    if (typeof opened !== 'string') opened.close()
    return null
  } catch (error) {
    if (usesEntrance(app)) throw error
    return BusbarError.from(error).message
  }
}

function tableText(report: CheckReport, app: App, out: Output): string {
  const { listeners, services, remotes, accelerators, entrance, warnings } = report
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
  const others = remotes.map(({ service, addresses, versions }) => [
    paint(out, 'bold', service),
    addresses.join(' '),
    versions === null
      ? '–'
      : Object.entries(versions)
          .map(([version, weight]) => `${version}: ${weight}`)
          .join(', '),
  ])
  const otherHead = ['remote service', 'address', 'versions'].map((name) => paint(out, 'dim', name))
  const addresses = listeners.map(({ url, serves }) => [paint(out, 'green', url), serves])
  const hazards = warnings.map(
    ({ code, message, hint }) =>
      `${paint(out, 'yellow', 'warning:')} ${message} ${paint(out, 'dim', `(${code})`)}\n  ${paint(out, 'cyan', 'hint:')} ${hint}`,
  )
  const source = paint(out, 'dim', app.configFile ?? `${app.root} (a program without a config)`)
  const groups = [
    [`${paint(out, 'bold', app.name)} ${source}`],
    rows.length === 0 ? [] : alignColumns([head, ...rows]),
    others.length === 0 ? [] : alignColumns([otherHead, ...others]),
    alignColumns(addresses),
    [paint(out, 'dim', `accelerators ${acceleratorsText(accelerators)}`), ...entranceText(entrance, out)],
    hazards,
  ]
  return groups
    .filter((group) => group.length > 0)
    .map((group) => group.join('\n'))
    .join('\n\n')
}

/** Only about the native one: the portable gateway needs no words. */
function entranceText({ uses, binary, mismatch }: EntranceRow, out: Output): string[] {
  if (mismatch !== null) return [`${paint(out, 'yellow', 'warning:')} ${mismatch}: the portable gateway serves`]
  if (uses === 'portable') return []
  if (binary !== null) return [paint(out, 'dim', `entrance native (${binary})`)]
  const hint = `Install ${entrancePackage}; in the repository, run npm run build with a Rust toolchain.`
  const missing = 'gateway.entrance is native, and there is no binary of it for this platform: the app cannot start'
  return [`${paint(out, 'yellow', 'warning:')} ${missing}\n  ${paint(out, 'cyan', 'hint:')} ${hint}`]
}

function hostText(host: string): string {
  return host.includes(':') ? `[${host}]` : host
}
