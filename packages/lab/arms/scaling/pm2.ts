/**
 * The plain service under PM2, in cluster mode with `WORKERS` instances. `pm2-runtime` stays in the
 * foreground and starts no daemon. Its files are in the arm's own folder.
 */
import { writeFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const { APP_FOLDER = '.', PACKAGES = '.', WORKERS = '1' } = process.env
const config = join(APP_FOLDER, 'pm2.json')
const app = {
  name: 'hello',
  script: fileURLToPath(new URL(`hello${extname(import.meta.url)}`, import.meta.url)),
  // For a `.ts` file PM2 would choose another runtime.
  interpreter: 'node',
  exec_mode: 'cluster',
  instances: Number(WORKERS),
}
writeFileSync(config, JSON.stringify({ apps: [app] }))
process.env['PM2_HOME'] = join(APP_FOLDER, 'pm2')
process.env['PM2_DISABLE_VERSION_CHECK'] = 'true'
const runtime = join(PACKAGES, 'node_modules/pm2/bin/pm2-runtime')
process.argv.splice(1, process.argv.length, runtime, 'start', config)
await import(pathToFileURL(runtime).href)
