import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Arm } from '../../src/arm.ts'
import { findEngine } from '../../src/engine/load.ts'
import type { Timing } from '../../src/protocol/plan.ts'
import type { Scenario } from '../../src/scenarios/scenario.ts'

export const server = fileURLToPath(new URL('../programs/server.ts', import.meta.url))

/** Enough for a few thousand requests, too short for a verdict on a busy machine. */
export const tiny: Partial<Timing> = {
  warmUpMs: 200,
  warmUpRequests: 0,
  untilSteady: false,
  sliceMs: 400,
  discardMs: 50,
  pulses: 4,
  pulseMs: 100,
  rounds: 1,
  maxRounds: 1,
  openShares: [],
  // A kernel tick is 1 % of so short a slice.
  disturbed: 1,
  waitShare: 0,
}

/** Skips tests that need the engine if it is not built. */
export const withEngine = {
  skip: findEngine().kind === 'busbar-load' ? false : 'the load engine is not built (cargo build --release)',
}

/** An arm that runs the server of `programs`. */
export function serverArm(
  name: string,
  env: Readonly<Record<string, string>> = {},
  nodeFlags: readonly string[] = [],
): Arm {
  return {
    name,
    title: `${name}, in words`,
    launch: ({ port, workers }) => ({
      command: [process.execPath, ...nodeFlags, server],
      env: { PORT: String(port), WORKERS: String(workers), ...env },
      target: { address: `127.0.0.1:${port}`, path: '/' },
    }),
  }
}

/**
 * A scenario with these arms and a good baseline. It states no expected answer: the lab must find
 * differences.
 */
export function scenarioOf(arms: readonly Arm[], more: Partial<Scenario> = {}): Scenario {
  const all = [serverArm('good'), ...arms]
  return {
    name: 'fixture',
    question: 'What is wrong here?',
    baseline: 'good',
    arms: all,
    quick: { arms: all.map((arm) => arm.name) },
    connections: [10],
    workers: [1],
    request: () => ({ path: '/' }),
    work: { timeoutMs: 1500 },
    ...more,
  }
}

/** A temporary cache folder of the lab, which also has the checkpoints. */
export class OwnCache implements Disposable {
  readonly path = mkdtempSync(join(tmpdir(), 'busbar-lab-test-'))
  readonly #before = process.env['XDG_CACHE_HOME']

  constructor() {
    process.env['XDG_CACHE_HOME'] = this.path
  }

  [Symbol.dispose](): void {
    if (this.#before === undefined) delete process.env['XDG_CACHE_HOME']
    else process.env['XDG_CACHE_HOME'] = this.#before
    rmSync(this.path, { recursive: true, force: true })
  }
}
