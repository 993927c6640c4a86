import { relative } from 'node:path'
import type { App, Service } from '../config/app.ts'
import type { Log } from '../observe/log.ts'
import type { OpenAddress, RunningApp } from '../supervisor/running.ts'
import { alignColumns } from './columns.ts'
import { type Terminal, paint, print } from './terminal.ts'

export interface Announcement {
  readonly terminal: Terminal
  readonly log: Log
  /** Milliseconds from the first step to the open port. */
  readonly took: number
}

/** Says where a started app answers, what runs where, and how to stop it: to a person as text, else as one log event. */
export function announce(running: RunningApp, { terminal, log, took }: Announcement): void {
  const { app, addresses } = running
  const reference = referenceUrl(running)
  if (terminal.out.isTerminal) return print(terminal.out, bannerText(running, terminal, took))
  log.event('info', `${app.name} serves at ${addresses.map(({ url }) => url).join(', ')}`, {
    addresses: addresses.map(({ url, serves }) => ({ url, serves: servesText(serves, app) })),
    services: app.services.map((service) => ({ name: service.name, runs: runsText(app, service) })),
    ...(reference !== undefined && { reference }),
    took: Math.round(took),
    stop: 'SIGINT or SIGTERM',
  })
}

function bannerText(running: RunningApp, { out }: Terminal, took: number): string {
  const { app, addresses } = running
  const reference = referenceUrl(running)
  const doors = addresses.map(({ url, serves }) => [
    paint(out, ['bold', 'green'], url),
    paint(out, 'dim', servesText(serves, app)),
  ])
  if (reference !== undefined)
    doors.push([paint(out, ['bold', 'green'], reference), paint(out, 'dim', 'what there is to call')])
  const services = app.services.map((service) => [
    paint(out, 'bold', service.name),
    runsText(app, service),
    paint(out, 'dim', entryText(app, service)),
  ])
  const lines = [...alignColumns(doors), '', ...alignColumns(services)].map((line) => (line === '' ? '' : `  ${line}`))
  const ready = `${paint(out, 'bold', app.name)} is ready after ${Math.round(took)} ms. Ctrl-C stops it.`
  return ['', ...lines, '', ready].join('\n')
}

/** Where the page of the app's OpenAPI document is; undefined where there is none, or a program has that path. */
function referenceUrl({ app: { gateway, services }, addresses: [door] }: RunningApp): string | undefined {
  const { openapi, entry, routes } = gateway
  if (openapi?.page === undefined || door?.serves.kind !== 'gateway') return undefined
  const takers = routes.filter(({ host, prefix }) => host === undefined && `${openapi.page}/`.startsWith(`${prefix}/`))
  const names = new Set([entry, ...takers.filter(({ prefix }) => prefix === '').map(({ service }) => service)])
  const isProgram = services.some(({ name, kind }) => kind !== 'typed' && names.has(name))
  if (takers.some(({ prefix }) => prefix !== '') || (isProgram && !openapi.beforeEntry)) return undefined
  return door.url.replace(/\/$/, '') + openapi.page
}

/** What answers behind a port: `tsfastify, /shop → web, /api → catalog (strip: false)`. */
export function servesText(serves: OpenAddress['serves'], { gateway }: App): string {
  if (serves.kind === 'service') return serves.service
  const routes = gateway.routes.map(({ host, prefix, service, strip }) => {
    const note = strip === false ? ' (strip: false)' : ''
    return `${host ?? ''}${prefix || '/'} → ${service}${note}`
  })
  return [...(gateway.entry === undefined ? [] : [gateway.entry]), ...routes].join(', ')
}

/** What is started for it: a module, or a command line. */
export function entryText({ root }: App, { kind, entry }: Service): string {
  return kind === 'command' ? [entry.file, ...entry.args].join(' ') : relative(root, entry.file)
}

/** Where a service runs: `shared, 2 workers`, `thread of checkout`, `process, 3 instances`. */
export function runsText({ workers }: App, { kind, run, group, instances }: Service): string {
  if (run === 'shared') return `${run}, ${workers} ${workers === 1 ? 'worker' : 'workers'}`
  const place = group !== undefined ? `${run} of ${group}` : kind === 'command' ? 'command' : run
  return instances === 1 ? place : `${place}, ${instances} instances`
}
