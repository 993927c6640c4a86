import { readFileSync, readlinkSync } from 'node:fs'

/**
 * Whether the process still runs that had this ID and this start. Another one may have got the same
 * ID since, above all in a container, where IDs are small.
 */
export function isSameProcess(pid: number, start: string): boolean {
  return isAlive(pid) && startOf(pid) === start
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** When a process started (proc_pid_stat(5), field 22). `0` where there is no `/proc`. */
export function startOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The second field is a name in parentheses, which may have spaces.
    const [ticks] = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .slice(19)
    return Number(ticks).toString(36)
  } catch {
    return '0'
  }
}

/** Process IDs mean something only in here (pid_namespaces(7)). Empty where there is no `/proc`. */
export function pidNamespace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid')
  } catch {
    return ''
  }
}
