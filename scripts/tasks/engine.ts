import { spawnSync } from 'node:child_process'
import { root } from './run.ts'
import type { Steps } from './steps.ts'

/**
 * The lab's load engine is in Rust. Without a toolchain, or without its crates, nothing else is missing: the lab then has
 * autocannon make the load, and the tests that need the engine say that they are skipped.
 */
export function engineBuildSteps(): Steps {
  const reason = whyNot()
  if (reason === undefined) return [['load engine', 'cargo', 'build', '--release', '--locked', '--quiet']]
  console.error(`– load engine not built: ${reason}; the lab will measure throughput only, by autocannon`)
  return []
}

/** After the build. */
export function engineCheckSteps(): Steps {
  if (whyNot() !== undefined) return []
  const steps: Steps = [
    ['engine format', 'cargo', 'fmt', '--all', '--check'],
    ['engine lint', 'cargo', 'clippy', '--release', '--locked', '--quiet', '--all-targets', '--', '-D', 'warnings'],
    ['engine tests', 'cargo', 'test', '--release', '--locked', '--quiet'],
  ]
  return steps.filter(([name, , tool]) => {
    // Distributions have cargo in one package, and these in others.
    if (tool === 'test' || works(tool!, '--version')) return true
    console.error(`– ${name} skipped: there is no cargo ${tool} here`)
    return false
  })
}

let reason: { readonly text: string | undefined } | undefined

function whyNot(): string | undefined {
  reason ??= { text: findReason() }
  return reason.text
}

function findReason(): string | undefined {
  if (!works('--version')) return 'there is no Rust toolchain here (cargo)'
  if (!works('fetch', '--locked', '--quiet')) return 'its crates could not be fetched'
  return undefined
}

function works(...args: string[]): boolean {
  return spawnSync('cargo', args, { cwd: root, stdio: 'ignore' }).status === 0
}
