type Log = (level: 'info' | 'warn', line: string) => void

/** Lines about hosts within {@link period}. */
const most = 100
/** Milliseconds. */
const period = 10_000

/**
 * A log that leaves lines out when there are too many, and says how many. The members of a cluster
 * decide how many hosts there are to say something of.
 */
export function limitLines(log: Log): Log {
  let began = -Infinity
  let lines = 0
  let leftOut = 0
  return (level, line) => {
    const now = performance.now()
    if (now - began >= period) {
      if (leftOut > 0) log('warn', `${leftOut} more lines about hosts were left out`)
      began = now
      lines = 0
      leftOut = 0
    }
    if (++lines <= most) log(level, line)
    else leftOut++
  }
}
