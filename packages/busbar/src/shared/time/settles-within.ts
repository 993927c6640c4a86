/**
 * True if one of `events` resolved within `timeout` milliseconds. Rejects if the first to settle
 * does.
 */
export async function settlesWithin(timeout: number, events: readonly Promise<unknown>[]): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<false>()
  const timer = setTimeout(resolve, timeout, false)
  try {
    return await Promise.race([promise, Promise.race(events).then(() => true)])
  } finally {
    clearTimeout(timer)
  }
}
