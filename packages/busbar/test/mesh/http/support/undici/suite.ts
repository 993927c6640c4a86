import { suite } from 'node:test'
import type { Version } from '../copies.ts'
import { testAnswers } from './answers.ts'
import { testAgents } from './agents.ts'
import { openBench } from './bench.ts'
import { testBodies } from './bodies.ts'
import { testFailures } from './failures.ts'
import { testFunctions } from './functions.ts'
import { testRequests } from './requests.ts'

/**
 * Each version runs in its own process: the copy that loads first provides the global dispatcher.
 */
export function testUndici(version: Version): void {
  suite(`a program's own ${version}`, () => {
    const bench = openBench(version)
    testAnswers(bench)
    testBodies(bench)
    testRequests(bench)
    testFailures(bench)
    testFunctions(bench)
    testAgents(bench)
  })
}
