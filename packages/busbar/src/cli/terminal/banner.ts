import { relative } from 'node:path'
import type { App, Service } from '../../config/app.ts'
import type { AppStatus } from '../../observe/app-status.ts'
import type { Log } from '../../observe/log.ts'
import { Redactor } from '../../observe/redactor.ts'
import { referenceUrl } from '../../supervisor/reference-url.ts'
import type { OpenAddress, RunningApp } from '../../supervisor/running-app.ts'
import { alignColumns } from './columns.ts'
import { type Terminal, paint, print } from './terminal.ts'

export interface StartBanner {
  readonly terminal: Terminal
  readonly log: Log
  /** Milliseconds from the start of the command to the open ports. */
  readonly took: number
}

/** Prints the addresses and placements of a started app. Without a terminal it is one log event. */
export function announce(running: RunningApp, { terminal, log, took }: StartBanner): void {
  const { app, addresses } = running
  const reference = referenceUrl(running)
  if (terminal.out.isTerminal) return print(terminal.out, bannerText(running, terminal, took))
  log.event('info', `${app.name} serves at ${addresses.map(({ url }) => url).join(', ')}`, {
    addresses: addresses.map(({ url, serves }) => ({ url, serves: servesText(serves, app) })),
    services: app.services.map((service) => ({ name: service.name, runs: runsText(app, service) })),
    ...(reference !== undefined && { reference }),
    entrance: entranceOf(running.status()),
    took: Math.round(took),
    stop: 'SIGINT or SIGTERM',
  })
}

function bannerText(running: RunningApp, { out }: Terminal, took: number): string {
  const { app, addresses } = running
  const reference = referenceUrl(running)
  const listeners = addresses.map(({ url, serves }) => [
    paint(out, ['bold', 'green'], url),
    paint(out, 'dim', servesText(serves, app)),
  ])
  if (entranceOf(running.status()) === 'native') listeners[0]?.push(paint(out, 'dim', 'native entrance'))
  if (reference !== undefined)
    listeners.push([paint(out, ['bold', 'green'], reference), paint(out, 'dim', 'API reference')])
  const services = app.services.map((service) => [
    paint(out, 'bold', service.name),
    runsText(app, service),
    paint(out, 'dim', entryText(app, service)),
  ])
  const lines = [...alignColumns(listeners), '', ...alignColumns(services)].map((line) =>
    line === '' ? '' : `  ${line}`,
  )
  const ready = `${paint(out, 'bold', app.name)} is ready after ${Math.round(took)} ms. Ctrl-C stops it.`
  return ['', ...lines, '', ready].join('\n')
}

/** Who accepts the gateway's connections. */
export function entranceOf({ entrance }: Pick<AppStatus, 'entrance'>): 'native' | 'portable' {
  return entrance === null ? 'portable' : 'native'
}

/** The services behind a port: `tsfastify, /shop → web, /api → catalog (strip: false)`. */
export function servesText(serves: OpenAddress['serves'], { gateway, export: exported }: App): string {
  if (serves.kind === 'service') return serves.service
  if (serves.kind === 'export') return `${exported!.services.join(', ')} to other apps`
  if (serves.kind === 'redirect') return 'redirects to HTTPS'
  const routes = gateway.routes.map(({ host, prefix, service, strip }) => {
    const note = strip === false ? ' (strip: false)' : ''
    return `${host ?? ''}${prefix || '/'} → ${service}${note}`
  })
  return [...(gateway.entry === undefined ? [] : [gateway.entry]), ...routes].join(', ')
}

/** The entry of a service: a module, or a command line. */
export function entryText({ root, secrets = [] }: App, { kind, entry }: Service): string {
  if (kind !== 'command') return relative(root, entry.file)
  return new Redactor({ secrets, fields: [] }).text([entry.file, ...entry.args].join(' '))
}

/**
 * The placement of a service: `shared, 2 workers`, `thread of checkout`, `process, 3 instances`.
 */
export function runsText({ workers }: App, { kind, run, group, instances }: Service): string {
  if (run === 'shared') return `${run}, ${workers} ${workers === 1 ? 'worker' : 'workers'}`
  const place = group !== undefined ? `${run} of ${group}` : kind === 'command' ? 'command' : run
  return instances === 1 ? place : `${place}, ${instances} instances`
}
