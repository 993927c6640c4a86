/**
 * `npm start -- --preload 10000 --tls --grpc`: sets the variables that the config reads. Other
 * arguments are those of `busbar start`.
 */
import { spawnSync } from 'node:child_process'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const example = import.meta.dirname
const args = process.argv.slice(2)
const [, preload] = take('--preload', 2)
if (preload !== undefined) process.env['ITEMS_PRELOAD'] = preload
const [grpc] = take('--grpc', 1)
if (grpc !== undefined) process.env['ITEMS_GRPC'] = 'true'
const [tls] = take('--tls', 1)
if (tls !== undefined) process.env['ITEMS_CERTIFICATE'] = makeCertificate()

const bin = createRequire(import.meta.url)
  .resolve('busbar/package.json')
  .replace(/package\.json$/, 'bin/busbar.js')
process.argv.splice(1, Infinity, bin, 'start', example, ...args)
await import(pathToFileURL(bin).href)

/** Removes a flag with its value from the arguments, and returns both. */
function take(flag: string, length: number): string[] {
  const at = args.indexOf(flag)
  return at < 0 ? [] : args.splice(at, length)
}

/** Runs the program of examples/fanout. Returns the folder of the certificate. */
function makeCertificate(): string {
  const folder = join(example, 'certs')
  const program = join(example, '..', 'fanout', 'setup', 'certificate.ts')
  const { status } = spawnSync(process.execPath, [program, folder], { stdio: 'inherit' })
  if (status !== 0) process.exit(1)
  return folder
}
