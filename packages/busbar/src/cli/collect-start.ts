/** Milliseconds: the app serves, and its first requests have been answered. */
const wait = 5000

/**
 * Collects once what the start has left in the heap: modules, the config, their compilation. An idle
 * supervisor allocates too little to come to a collection, and would keep 17 MB
 * (`scripts/operations/idle.ts`). It takes some 20 ms. Returns a function that prevents it.
 */
export function collectAfterStart(): () => void {
  // A Node can be built without an inspector, and permissions can forbid it: the memory stays.
  const timer = setTimeout(() => void collect().catch(() => {}), wait).unref()
  return () => clearTimeout(timer)
}

/** By the DevTools protocol, which needs no flag of V8. */
async function collect(): Promise<void> {
  const { Session } = await import('node:inspector/promises')
  const session = new Session()
  session.connect()
  try {
    await session.post('HeapProfiler.collectGarbage')
  } finally {
    session.disconnect()
  }
}
