/** The app of the operations scripts. */
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { StartedApp } from '../started-app.ts'

const programs = join(import.meta.dirname, 'programs')

export interface Service {
  readonly run: 'shared' | 'thread' | 'process'
  readonly instances?: number
}

/** `web` gets the requests, and asks `catalog` for each. */
export async function startMeasuredApp(web: Service, catalog: Service): Promise<StartedApp> {
  const folder = mkdtempSync(join(tmpdir(), 'busbar-operations-'))
  const at = (name: string): string => join(programs, `${name}.mjs`)
  const services = { web: { path: at('web'), ...web }, catalog: { path: at('catalog'), ...catalog } }
  // A change waits for the drain of the one before.
  const limits = { webSocketDrain: 200 }
  // Instances are ended on purpose: no restart waits because of those before.
  const config = { gateway: { port: 0, routes: { '/': 'web' } }, limits, stableAfter: '500ms', services }
  writeFileSync(join(folder, 'busbar.config.json'), JSON.stringify(config))
  return await StartedApp.start(folder)
}
