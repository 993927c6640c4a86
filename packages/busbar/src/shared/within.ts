/** True when one of `events` came within `timeout` milliseconds. Rejects as the first of them does. */
export async function within(timeout: number, events: readonly Promise<unknown>[]): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<false>()
  const timer = setTimeout(resolve, timeout, false)
  try {
    return await Promise.race([promise, Promise.race(events).then(() => true)])
  } finally {
    clearTimeout(timer)
  }
}
