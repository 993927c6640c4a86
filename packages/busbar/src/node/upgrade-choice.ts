/**
 * Which upgrades an HTTP server takes. It can be told by the option `shouldUpgradeCallback` (Node 24.9), and is asked here by the
 * property that keeps it.
 */
import { createServer, type IncomingMessage, type Server, type ServerOptions } from 'node:http'

interface Chooser {
  shouldUpgradeCallback?(req: IncomingMessage): boolean
}

export function wantsUpgrade(server: Server, req: IncomingMessage): boolean {
  return (server as Chooser).shouldUpgradeCallback?.(req) ?? false
}

/** Undefined where a server can be asked. */
export function upgradeChoiceFault(): string | undefined {
  const req = {} as IncomingMessage
  const told = createServer({ shouldUpgradeCallback: (asked: unknown) => asked === req } as ServerOptions)
  const untold = createServer()
  const without = wantsUpgrade(untold, req)
  untold.on('upgrade', () => {})
  const found =
    wantsUpgrade(told, req) && !wantsUpgrade(told, {} as IncomingMessage) && !without && wantsUpgrade(untold, req)
  return found ? undefined : 'a server does not show which upgrades it takes'
}
