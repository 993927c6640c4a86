import { spawn } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

/**
 * Shows a local file in the user's browser. Returns false where there is none, as on a server.
 * A file, because everybody on the machine can read the arguments of a process.
 */
export function openInBrowser(file: string, env: NodeJS.ProcessEnv): boolean {
  const command = browserCommand(file, env)
  if (command === undefined) return false
  const [program, ...args] = command
  const child = spawn(program, args, { stdio: 'ignore', detached: true, env })
  // The address is printed, too.
  child.once('error', () => {})
  child.unref()
  return true
}

/** Undefined without a desktop. `BROWSER` is what other command lines follow, too. */
export function browserCommand(
  file: string,
  env: NodeJS.ProcessEnv,
  platform: NodeJS.Platform = process.platform,
): readonly [string, ...string[]] | undefined {
  const { BROWSER: chosen } = env
  if (chosen !== undefined && chosen !== '') return [chosen, file]
  if (platform === 'darwin') return ['open', file]
  if (platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler', file]
  const hasDesktop = Boolean(env['DISPLAY'] ?? env['WAYLAND_DISPLAY'])
  return hasDesktop && isOnPath('xdg-open', env) ? ['xdg-open', file] : undefined
}

function isOnPath(program: string, { PATH = '' }: NodeJS.ProcessEnv): boolean {
  return PATH.split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}
