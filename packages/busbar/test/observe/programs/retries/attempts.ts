/** What both callees do with a call: they note it, and may hold it. */
import { appendFileSync, existsSync } from 'node:fs'
import { join } from 'node:path'

const folder = process.env['TALLY']!

/** `instance`: of this copy of the service. */
export function note(instance: string, id: string): void {
  appendFileSync(join(folder, 'attempts'), `${instance} ${id}\n`)
}

/** Resolves when there is a file named `release`. */
export async function released(): Promise<void> {
  while (!existsSync(join(folder, 'release'))) await new Promise((resolve) => setTimeout(resolve, 5))
}
