/**
 * Runs services under Watt, with the command that its users run. `SERVICES` is a JSON object of `{
 * file, env }`. The first is the entrypoint, with `WORKERS` instances. Watt needs a folder with a
 * program for each, and lets every program listen where it wants, so only the entrypoint gets
 * `PORT`.
 */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const { APP_FOLDER = '.', PACKAGES = '.', PORT = '0', WORKERS = '1', SERVICES = '{}' } = process.env
const services = Object.entries(JSON.parse(SERVICES) as Record<string, { file: string; env?: Record<string, string> }>)
const [[entrypoint]] = services as [[string, object]]
const write = (file: string, content: object) => writeFileSync(join(APP_FOLDER, file), JSON.stringify(content))

for (const [name, { file, env = {} }] of services) {
  mkdirSync(join(APP_FOLDER, name))
  write(join(name, 'package.json'), { name, type: 'module', main: 'index.js' })
  write(join(name, 'watt.json'), { $schema: schema('@platformatic/node', '3.65.0') })
  const own = name === entrypoint ? env : { PORT: '0', ...env }
  const assignments = `Object.assign(process.env, ${JSON.stringify(own)})`
  writeFileSync(
    join(APP_FOLDER, name, 'index.js'),
    `${assignments}\nawait import(${JSON.stringify(pathToFileURL(file))})\n`,
  )
}
symlinkSync(join(PACKAGES, 'node_modules'), join(APP_FOLDER, 'node_modules'))
write('package.json', { name: 'watt', private: true, type: 'module' })
write('watt.json', {
  $schema: schema('wattpm', '3.67.0'),
  server: { hostname: '127.0.0.1', port: Number(PORT) },
  logger: { level: 'error' },
  metrics: false,
  // By default it opens port 9090 on all addresses, so that only one arm could run at a time.
  healthProbes: false,
  managementApi: false,
  entrypoint,
  applications: services.map(([id]) => ({ id, path: id, workers: id === entrypoint ? Number(WORKERS) : 1 })),
})
const cli = join(PACKAGES, 'node_modules/wattpm/bin/cli.js')
process.argv.splice(1, process.argv.length, cli, 'start', APP_FOLDER)
await import(pathToFileURL(cli).href)

function schema(name: string, version: string): string {
  return `https://schemas.platformatic.dev/${name}/${version}.json`
}
