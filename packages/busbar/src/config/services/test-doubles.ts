import { BusbarError } from '../../contract/errors.ts'
import type { Service } from '../app.ts'
import { nearest } from '../nearest.ts'
import type { Problems } from '../problems.ts'
import type { ParsedConfig } from '../schema/app-schema.ts'
import { unconfigured } from './unconfigured.ts'

/**
 * Test doubles by the name of the service they replace. `typed`: the double implements a contract.
 */
export type TestDoubles = ReadonlyMap<string, 'typed' | 'command'>

export function checkTestDoubles(doubles: TestDoubles, names: readonly string[], problems: Problems): void {
  for (const name of doubles.keys()) {
    if (names.includes(name)) continue
    const near = nearest(name, names)
    problems.addFrom(
      new BusbarError('SERVICE_UNKNOWN', {
        message: `replace names ${JSON.stringify(name)}, which is not a service${near === undefined ? '' : `; the nearest is ${near}`}`,
        hint: near === undefined ? `The services are ${names.join(', ')}.` : `Did you mean ${near}?`,
        service: name,
        data: { nearest: near === undefined ? [] : [near] },
      }),
    )
  }
}

/** The service for a test double. It ignores the replaced service's folder, placement and ports. */
export function testDoubleService(
  name: string,
  kind: 'typed' | 'command',
  root: string,
  { defaults, stopTimeout }: ParsedConfig,
): Service {
  return {
    ...unconfigured,
    name,
    kind,
    double: true,
    run: 'process',
    path: root,
    entry: { file: 'a test double', args: [], nodeOptions: [], foundBy: 'replace' },
    startTimeout: defaults.startTimeout,
    stopTimeout: defaults.stopTimeout ?? stopTimeout,
  }
}
