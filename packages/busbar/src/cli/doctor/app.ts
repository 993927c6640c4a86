/** Checks of one app: its config and its ports. */
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { Address, App } from '../../config/app.ts'
import { BusbarError } from '../../contract/errors.ts'
import type { AppStatus } from '../../observe/app-status.ts'
import { type Finding, fail, ok, warn } from './finding.ts'

export interface LoadedApp {
  readonly finding: Finding
  readonly app: App | undefined
}

/** A folder without an app is no fault: then only the machine is checked. */
export async function checkConfig(load: () => Promise<App>, isNamed: boolean): Promise<LoadedApp> {
  try {
    const app = await load()
    return { app, finding: ok('config', app.configFile ?? `none; one program in ${app.root}`) }
  } catch (error) {
    const { code, message, hint = 'Correct what the message names.' } = BusbarError.from(error)
    if (code === 'CONFIG_NOT_FOUND' && !isNamed)
      return { app: undefined, finding: ok('config', 'no app in this folder: only the machine is checked') }
    return { app: undefined, finding: fail('config', `${message} (${code})`, hint) }
  }
}

/** `runs`: the running apps of this user. A port that the app itself has open is fine. */
export async function checkPorts(app: App, runs: readonly AppStatus[]): Promise<Finding[]> {
  const own = runs.filter(({ app: { root } }) => root === app.root)
  const { gateway, admin, services } = app
  const ports: readonly (readonly [string, Address])[] = [
    ['gateway', gateway],
    ...(admin === undefined ? [] : [['admin', admin] as const]),
    ...services.flatMap(({ name, expose }) => expose.map((address) => [name, address] as const)),
  ]
  return await Promise.all(ports.map(([name, address]) => checkPort(`port of ${name}`, address, own)))
}

async function checkPort(check: string, { host, port }: Address, own: readonly AppStatus[]): Promise<Finding> {
  if (port === 0) return ok(check, 'any free one')
  const server = createServer()
  try {
    await once(server.listen({ host, port }), 'listening')
    return ok(check, `${port} is free`)
  } catch (error) {
    return explain(check, port, error as NodeJS.ErrnoException, own)
  } finally {
    server.close()
  }
}

function explain(
  check: string,
  port: number,
  { code, message }: NodeJS.ErrnoException,
  own: readonly AppStatus[],
): Finding {
  if (code === 'EADDRINUSE' && own.length > 0)
    return ok(check, `${port} is in use; this app runs (process ${own.map(({ app }) => app.pid).join(', ')})`)
  if (code === 'EADDRINUSE')
    return fail(
      check,
      `${port} is in use by another program`,
      `Find it: ss -ltnp 'sport = :${port}'; or choose another port.`,
    )
  if (code === 'EACCES')
    return fail(
      check,
      `${port} is forbidden to this user`,
      `Choose a port from 1024 up, or allow it: sysctl -w net.ipv4.ip_unprivileged_port_start=${port}`,
    )
  return warn(check, message, 'Check the host in the config.')
}
