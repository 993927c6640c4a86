import type { App } from '../app.ts'
import type { Hazard } from './hazard.ts'

/** Services that the config puts elsewhere than it says. */
export function findMovedCopies({ services }: App): Hazard[] {
  return services.flatMap(({ name, copyOf }): Hazard[] => {
    if (copyOf === undefined) return []
    const message = `${name} has the same folder as ${copyOf}, and not all of it is ES modules: a thread loads it once, so ${name} has a thread of its own`
    const hint = `Write run: 'thread' for ${name}; or make all of the folder ES modules, without createRequire.`
    return [{ code: 'COPY_MOVED', services: [name, copyOf], message, hint }]
  })
}
