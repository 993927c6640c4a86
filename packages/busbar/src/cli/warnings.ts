/**
 * Keeps Node from printing warnings with this code on the main thread. Node prints by a listener of its own, which is
 * put behind a filter here. `--disable-warning` would do the same, but only for whoever starts the process.
 */
export function silenceWarning(code: string): void {
  const listeners = process.listeners('warning')
  process.removeAllListeners('warning')
  process.on('warning', (warning) => {
    if ((warning as { code?: unknown }).code === code) return
    for (const listener of listeners) listener.call(process, warning)
  })
}
