import { BusbarError } from '../contract/errors.ts'
import type { EmbeddedApp, StartAppOptions } from './embedded-app.ts'
import { moduleFile } from '../shared/package-files.ts'

/**
 * Starts an app in this process, as `busbar start` does. `location` is the path or `file:` URL of a
 * folder with a config, of a config file, or of a single program. Resolves when every service has
 * started and the ports are open. Rejects with a BusbarError. Installs no signal handlers and does
 * not end the process.
 */
export async function startApp(location: string | URL, options: StartAppOptions = {}): Promise<EmbeddedApp> {
  await checkFiles()
  // Loaded on demand: services import this package too, and do not need what starts an app.
  const { openEmbeddedApp } = await import('./open-app.ts')
  return await openEmbeddedApp(location, options)
}

/**
 * Workers start from files of this package, which a bundle does not have. Some bundlers also leave
 * `import.meta.url` undefined.
 */
async function checkFiles(): Promise<void> {
  const own = import.meta.url as string | undefined
  const { existsSync } = await import('node:fs')
  if (own !== undefined && existsSync(moduleFile('worker/main'))) return
  throw new BusbarError('PLACEMENT_UNSUPPORTED', {
    message: `startApp is in a bundle${own === undefined ? '' : ` (${own})`}, which does not contain the files that workers start from`,
    hint: "Leave the package 'busbar' out of the bundle, as with esbuild --external:busbar, and install it beside it.",
  })
}
