import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Arm } from '../../src/arm.ts'
import { findEngine } from '../../src/engine/load.ts'
import type { Timing } from '../../src/protocol/plan.ts'
import type { Scenario } from '../../src/scenarios/scenario.ts'

export const server = fileURLToPath(new URL('../programs/server.ts', import.meta.url))

/** Long enough for a few thousand requests, far too short for a verdict on a busy machine. */
export const tiny: Partial<Timing> = {
  warmUpMs: 200,
  steadyMs: 0,
  sliceMs: 400,
  discardMs: 50,
  rounds: 1,
  maxRounds: 1,
  openShares: [],
  // In so short a slice one tick of the kernel's clock is a per cent.
  disturbed: 1,
  patience: 0,
}

/** Tests that need the engine say so where it was not built. */
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

/** Arms beside a good one, which is the baseline. Nothing is said of the answers: the lab must see by itself. */
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

/** The lab's cache, and with it the checkpoints, in a folder of this test's own. */
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
