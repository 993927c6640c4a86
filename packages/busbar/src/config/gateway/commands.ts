import type { App } from '../app.ts'
import { isRawEntry } from './raw-entry.ts'

/** Whether the gateway makes connections of its own, to commands and test doubles: one for each request that it relays there. */
export function connectsToCommands(app: Pick<App, 'gateway' | 'services'>): boolean {
  return !isRawEntry(app) && app.services.some(({ kind, double }) => kind === 'command' || double === true)
}
