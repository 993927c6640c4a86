/**
 * Hides warnings with this code in this thread. Node prints warnings by a listener, which is
 * wrapped by a filter here. `--disable-warning` does the same, but must be set when the process
 * starts.
 */
export function silenceWarning(code: string): void {
  const listeners = process.listeners('warning')
  process.removeAllListeners('warning')
  process.on('warning', (warning) => {
    if ((warning as { code?: unknown }).code === code) return
    for (const listener of listeners) listener.call(process, warning)
  })
}
