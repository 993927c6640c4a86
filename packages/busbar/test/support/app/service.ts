import { dirname } from 'node:path'
import type { EntryModule, Service } from '../../../src/config/app.ts'

/** A loaded service with defaults, except for its entry and `overrides`. */
export function serviceAt(name: string, entry: EntryModule, overrides: Partial<Service> = {}): Service {
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
    ...overrides,
  }
}
