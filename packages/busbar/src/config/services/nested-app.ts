/**
 * A service must not be a Busbar app: its start would start an app inside the app, or the app
 * itself.
 */
import { realpath } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { BusbarError } from '../../contract/errors.ts'
import { findConfig, isConfigFile } from '../file/config-files.ts'
import { readPackageJson } from '../file/package-json.ts'

/** Throws ROUTE_LOOP for an entry that is a config or the `busbar` command. */
export async function checkEntryIsProgram(service: string, entry: string): Promise<void> {
  const file = await realpath(entry)
  const isCommand = basename(file) === 'busbar.js' && (await readPackageJson(dirname(dirname(file))))?.name === 'busbar'
  if (isCommand || isConfigFile(file)) throw nestedApp(service, `its entry is ${entry}`)
}

/**
 * For a folder without an entry. Throws ROUTE_LOOP for `"start": "busbar start"` and for a config.
 */
export async function checkFolderIsProgram(service: string, folder: string): Promise<void> {
  const start = (await readPackageJson(folder))?.scripts['start'] ?? ''
  if (startsBusbar.test(start)) throw nestedApp(service, `scripts.start of ${folder} is \`${start}\``)
  const config = await findConfig(folder)
  if (config !== undefined) throw nestedApp(service, `${folder} has a ${basename(config)} and no program`)
}

/**
 * Throws ROUTE_LOOP for `busbar start` in the app's own folder. In another folder it is another
 * app.
 */
export function checkCommandIsProgram(service: string, command: string, folder: string, root: string): void {
  if (folder === root && startsBusbar.test(command)) throw nestedApp(service, `its command is \`${command}\``)
}

const startsBusbar = /(?:^|[\s/])busbar(?:\s+(?:start|dev)\b|\s*$)/

function nestedApp(service: string, why: string): BusbarError {
  return new BusbarError('ROUTE_LOOP', {
    service,
    message: `service '${service}' would start an app inside the app: ${why}`,
    hint: 'Point the service to a program. To run the services of another app, list them in this config.',
  })
}
