import { spawnSync } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { root } from './run.ts'
import type { Steps } from './steps.ts'

/**
 * The lab's load engine is written in Rust. Without a toolchain or its crates the lab uses
 * autocannon instead, and tests that need the engine are skipped.
 */
export function engineBuildSteps(): Steps {
  const reason = whyNot()
  if (reason === undefined) return [['load engine', 'cargo', 'build', '--release', '--locked', '--quiet']]
  console.error(`– load engine not built: ${reason}. The lab will use autocannon, which measures throughput only`)
  return []
}

/** `BUSBAR_RUST_CHECKS`: the cargo profile of the checks. */
export function engineCheckSteps(): Steps {
  if (whyNot() !== undefined) return []
  const profile = process.env['BUSBAR_RUST_CHECKS'] ?? 'checks'
  const steps: Steps = [
    ['engine format', 'cargo', 'fmt', '--all', '--check'],
    [
      'engine lint',
      'cargo',
      'clippy',
      '--profile',
      profile,
      '--locked',
      '--quiet',
      '--all-targets',
      '--',
      '-D',
      'warnings',
    ],
    // They mostly wait for a load to end: ten percent of two cores.
    ['engine tests', 'cargo', 'test', '--profile', profile, '--locked', '--quiet', '--', testThreads],
  ]
  return steps.filter(([name, , tool]) => {
    // Distributions have these tools in packages of their own.
    if (tool === 'test' || works(tool!, '--version')) return true
    console.error(`– ${name} skipped: cargo ${tool} is not installed`)
    return false
  })
}

const testThreads = `--test-threads=${2 * availableParallelism()}`

let reason: { readonly text: string | undefined } | undefined

function whyNot(): string | undefined {
  reason ??= { text: findReason() }
  return reason.text
}

function findReason(): string | undefined {
  if (!works('--version')) return 'there is no Rust toolchain (cargo)'
  if (!works('fetch', '--locked', '--quiet')) return 'its crates could not be fetched'
  return undefined
}

function works(...args: string[]): boolean {
  return spawnSync('cargo', args, { cwd: root, stdio: 'ignore' }).status === 0
}
