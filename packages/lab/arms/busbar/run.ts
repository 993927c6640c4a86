/** Runs the command that users run. */
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'

export async function runBusbar(...args: string[]): Promise<void> {
  const bin = createRequire(import.meta.url)
    .resolve('busbar/package.json')
    .replace(/package\.json$/, 'bin/busbar.js')
  process.argv.splice(1, process.argv.length, bin, ...args)
  await import(pathToFileURL(bin).href)
}
