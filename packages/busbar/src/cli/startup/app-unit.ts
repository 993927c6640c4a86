import { realpathSync } from 'node:fs'
import { isIP } from 'node:net'
import type { Address, App } from '../../config/app.ts'
import { BusbarError } from '../../contract/errors.ts'
import { startArguments } from '../background/start-detached.ts'
import { appUnit, type ServiceUnit, socketUnit, unitName } from './systemd-unit.ts'

export interface AppUnitOptions {
  /** Absolute: of its folder or config. */
  readonly location: string
  /** Of `environments` in the config. */
  readonly environment: string | undefined
  /** Whether systemd opens the ports ({@link socketsOfApp}). */
  readonly hasSockets?: boolean
  readonly target: ServiceUnit['target']
}

export interface Unit {
  readonly name: string
  readonly text: string
}

/** The unit that runs an app, for `startup` and `export`. */
export function unitOfApp(app: App, { location, environment, hasSockets, target }: AppUnitOptions): Unit {
  const args = startArguments(environment === undefined ? {} : { env: environment }, location)
  const text = appUnit({
    description: `${app.name} (Busbar)`,
    command: [...ownCommand(), 'start', ...args],
    reload: [...ownCommand(), 'reload', '--app', location],
    folder: app.root,
    socket: hasSockets ? socketName(app) : undefined,
    stopTimeout: (app.stopDelay ?? 0) + app.stopTimeout,
    target,
  })
  return { name: unitName(app.name), text }
}

/**
 * The unit of the app's ports, in the order in which it takes sockets without a name. Throws USAGE
 * for a port that systemd cannot open.
 */
export function socketsOfApp(app: App): Unit {
  const addresses = [app.gateway, ...app.services.flatMap(({ expose }) => expose)]
  return { name: socketName(app), text: socketUnit(`Sockets of ${app.name} (Busbar)`, addresses.map(streamOf)) }
}

/** Absolute paths: systemd knows neither this user's PATH nor version managers. */
export function ownCommand(): string[] {
  return [process.execPath, ...process.execArgv, realpathSync(process.argv[1]!)]
}

function socketName({ name }: App): string {
  return unitName(name).replace(/service$/, 'socket')
}

/** systemd.socket(5), `ListenStream=`. */
function streamOf({ host, port }: Address): string {
  const address = host === 'localhost' ? '127.0.0.1' : host
  const version = isIP(address)
  if (version === 0 || port === 0)
    throw new BusbarError('USAGE', {
      message: `systemd cannot open ${host}:${port}: it needs an IP address and a port`,
      hint: 'Set them in the config (gateway.host, gateway.port, expose).',
    })
  return version === 6 ? `[${address}]:${port}` : `${address}:${port}`
}
