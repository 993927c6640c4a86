import { readFileSync } from 'node:fs'

/**
 * True if a process runs. Zombies do not count: they stay until their parent, or init, reaps them.
 */
export function runs(pid: number): boolean {
  try {
    process.kill(pid, 0)
  } catch {
    return false
  }
  return !/^[ZX]/.test(stateOf(pid))
}

/** Empty without `/proc`. */
function stateOf(pid: number): string {
  try {
    const line = readFileSync(`/proc/${pid}/stat`, 'latin1')
    return line.slice(line.lastIndexOf(')') + 2)
  } catch {
    return ''
  }
}
