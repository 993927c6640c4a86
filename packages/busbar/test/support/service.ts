import { dirname } from 'node:path'
import type { Entry, Service } from '../../src/config/app.ts'

/** A service as the loader makes it of a config that says nothing but its entry; `said` goes over that. */
export function serviceAt(name: string, entry: Entry, said: Partial<Service> = {}): Service {
  return {
    name,
    kind: 'program',
    run: 'shared',
    group: undefined,
    instances: 1,
    concurrency: undefined,
    queue: 256,
    grace: 500,
    spare: false,
    memory: undefined,
    nodeOptions: [],
    permissions: undefined,
    path: dirname(entry.file),
    entry,
    env: {},
    needs: [],
    startTimeout: 10_000,
    stopTimeout: 5_000,
    expose: [],
    port: undefined,
    ...said,
  }
}
