import { BusbarError } from '../../contract/errors.ts'
import type { Service } from '../app.ts'
import { nearest } from '../nearest.ts'
import type { Problems } from '../problems.ts'
import type { ServiceContext, ServiceSource } from './services.ts'

/** Test doubles by the names of the services that they replace; `typed`: it implements a contract. */
export type Doubles = ReadonlyMap<string, 'typed' | 'command'>

export function checkDoubles(doubles: Doubles, names: readonly string[], problems: Problems): void {
  for (const name of doubles.keys()) {
    if (names.includes(name)) continue
    const near = nearest(name, names)
    problems.addFrom(
      new BusbarError('SERVICE_UNKNOWN', {
        message: `replace names ${JSON.stringify(name)}, which is no service${near === undefined ? '' : `; the nearest is ${near}`}`,
        hint: near === undefined ? `There are ${names.join(', ')}.` : `Did you mean ${near}?`,
        service: name,
        data: { nearest: near === undefined ? [] : [near] },
      }),
    )
  }
}

/** What the config says of its folder, its placement and its ports is not looked at: none of it is used. */
export function doubleOf(
  { name }: ServiceSource,
  { found, config }: ServiceContext,
  kind: 'typed' | 'command',
): Service {
  const { defaults, stopTimeout } = config
  return {
    name,
    kind,
    double: true,
    run: 'process',
    group: undefined,
    instances: 1,
    concurrency: undefined,
    queue: 0,
    grace: 0,
    spare: false,
    memory: undefined,
    nodeOptions: [],
    permissions: undefined,
    path: found.root,
    entry: { file: 'a test double', args: [], nodeOptions: [], foundBy: 'replace' },
    env: {},
    needs: [],
    startTimeout: defaults.startTimeout,
    stopTimeout: defaults.stopTimeout ?? stopTimeout,
    expose: [],
    port: undefined,
  }
}
