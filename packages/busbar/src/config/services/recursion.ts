import { realpath } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { BusbarError } from '../../contract/errors.ts'
import { findConfig, isConfigFile } from '../file/config-files.ts'
import { readPackageFile } from '../file/package-file.ts'

/** Throws ROUTE_LOOP where a service's entry is a config or the `busbar` command: it would start an app, perhaps this one. */
export async function checkEntryIsProgram(service: string, entry: string): Promise<void> {
  const file = await realpath(entry)
  const isCommand = basename(file) === 'busbar.js' && (await readPackageFile(dirname(dirname(file))))?.name === 'busbar'
  if (isCommand || isConfigFile(file)) throw startsAnApp(service, `its entry is ${entry}`)
}

/** The same where no entry was found because the folder is an app itself: `"start": "busbar start"`, or a config. */
export async function checkFolderIsProgram(service: string, folder: string): Promise<void> {
  const start = (await readPackageFile(folder))?.scripts['start'] ?? ''
  if (startsBusbar.test(start)) throw startsAnApp(service, `scripts.start of ${folder} is \`${start}\``)
  const config = await findConfig(folder)
  if (config !== undefined) throw startsAnApp(service, `${folder} has a ${basename(config)} and no program`)
}

/** The same where a command in the app's own folder is `busbar start`. In another folder that is another app, in its own process. */
export function checkCommandIsProgram(service: string, command: string, folder: string, root: string): void {
  if (folder === root && startsBusbar.test(command)) throw startsAnApp(service, `its command is \`${command}\``)
}

const startsBusbar = /(?:^|[\s/])busbar(?:\s+(?:start|dev)\b|\s*$)/

function startsAnApp(service: string, why: string): BusbarError {
  return new BusbarError('ROUTE_LOOP', {
    service,
    message: `service ${service} leads back into Busbar: ${why}, so starting it would start an app inside the app`,
    hint: 'Let the service be a program; list the services of another app here instead of the app.',
  })
}
