/**
 * Runs a program's code. What it throws is thrown in a tick of its own: Node looks for the program in the async context
 * that is current when nobody has caught it, and whoever entered one has left it by then.
 */
export function runGuarded(run: () => void): void {
  try {
    run()
  } catch (error) {
    process.nextTick(rethrow, error)
  }
}

function rethrow(error: unknown): never {
  throw error
}
