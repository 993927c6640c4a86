import { readFileSync } from 'node:fs'

/**
 * Whether a process runs. One that has ended stays in the table until its parent looks, and as an orphan until the system's
 * first process does: seconds later, or never.
 */
export function runs(pid: number): boolean {
  try {
    process.kill(pid, 0)
  } catch {
    return false
  }
  return !/^[ZX]/.test(stateOf(pid))
}

/** Empty where there is no `/proc`. */
function stateOf(pid: number): string {
  try {
    const line = readFileSync(`/proc/${pid}/stat`, 'latin1')
    return line.slice(line.lastIndexOf(')') + 2)
  } catch {
    return ''
  }
}
