import { execFileSync } from 'node:child_process'

/** Whether this machine has a command, which must know `--version`. */
export function hasCommand(command: string): boolean {
  try {
    execFileSync(command, ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}
