/** A time in which this thread is blocked or stopped counts as at most one of these parts. */
const parts = 4

/**
 * Calls `onTimeout` after `timeout` milliseconds in which this thread ran, when it has read what
 * has arrived until then. A timer alone that expires during synchronous work fires before that.
 * Returns a function that clears it. It keeps no process alive.
 */
export function startRunningTimeout(timeout: number, onTimeout: () => void): () => void {
  let left = parts
  let afterReading: NodeJS.Immediate | undefined
  const timer = setInterval(() => {
    if (--left > 0) return
    clearInterval(timer)
    afterReading = setImmediate(onTimeout)
  }, timeout / parts).unref()
  return () => {
    clearInterval(timer)
    clearImmediate(afterReading)
  }
}
