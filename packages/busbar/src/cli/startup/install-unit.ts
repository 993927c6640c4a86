import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { BusbarError } from '../../contract/errors.ts'
import { userFolder, userName } from '../../shared/process/user-folders.ts'
import type { ServiceUnit } from './systemd-unit.ts'

/**
 * Root installs units of the machine, others units of their own, unless told otherwise. `sudo`
 * gives rights to write the unit, not to run the app as root.
 */
export function unitTarget(wantsUser: boolean, env: NodeJS.ProcessEnv): ServiceUnit['target'] {
  if (wantsUser || process.getuid?.() !== 0) return { kind: 'user' }
  return { kind: 'system', user: env['SUDO_USER'] || userName() }
}

/** Writes the unit. Returns its path. */
export function installUnit(name: string, text: string, kind: 'user' | 'system', env: NodeJS.ProcessEnv): string {
  const folder = kind === 'user' ? userUnits(env) : '/etc/systemd/system'
  const file = join(folder, name)
  try {
    mkdirSync(folder, { recursive: true })
    writeFileSync(file, text)
  } catch (cause) {
    throw new BusbarError('USAGE', {
      message: `${file} could not be written: ${(cause as Error).message}`,
      hint: 'Run it as the user who owns the folder, or print the unit (--print) and install it by hand.',
      cause,
    })
  }
  return file
}

/** What is left to do: this command starts and stops nothing. */
export function nextSteps(names: readonly string[], kind: 'user' | 'system'): string[] {
  const systemctl = kind === 'user' ? 'systemctl --user' : 'systemctl'
  return [
    `${systemctl} daemon-reload`,
    `${systemctl} enable --now ${names.join(' ')}`,
    // Otherwise the units of a user run only while the user is logged in.
    ...(kind === 'user' ? [`loginctl enable-linger ${userName()}`] : []),
  ]
}

/** systemd.unit(5), "User Unit Search Path". */
function userUnits({ XDG_CONFIG_HOME: base }: NodeJS.ProcessEnv): string {
  return join(userFolder(base, '.config'), 'systemd', 'user')
}
