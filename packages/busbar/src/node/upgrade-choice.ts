/**
 * Which upgrades an HTTP server accepts: the value of its option `shouldUpgradeCallback` (Node
 * 24.9), read from the property that keeps it.
 */
import { createServer, type IncomingMessage, type Server, type ServerOptions } from 'node:http'

interface Chooser {
  shouldUpgradeCallback?(req: IncomingMessage): boolean
}

export function wantsUpgrade(server: Server, req: IncomingMessage): boolean {
  return (server as Chooser).shouldUpgradeCallback?.(req) ?? false
}

/** Undefined if a server has that property. */
export function upgradeChoiceFault(): string | undefined {
  const req = {} as IncomingMessage
  const told = createServer({ shouldUpgradeCallback: (asked: unknown) => asked === req } as ServerOptions)
  const untold = createServer()
  const without = wantsUpgrade(untold, req)
  untold.on('upgrade', () => {})
  const found =
    wantsUpgrade(told, req) && !wantsUpgrade(told, {} as IncomingMessage) && !without && wantsUpgrade(untold, req)
  return found ? undefined : 'a server does not expose which upgrades it accepts'
}
