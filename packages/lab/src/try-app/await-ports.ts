/**
 * A program that ends when something listens on each port that it is given, or after a while: what
 * listens elsewhere than expected shows only if all services run. A service of today starts after
 * it if it needs others.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { listeningHost } from '../protocol/client/loopback.ts'

const limit = 20_000
const pause = 20

const last = performance.now() + limit
for (const port of process.argv.slice(2).map(Number))
  while (!(await listens(port)) && performance.now() < last) await sleep(pause)

async function listens(port: number): Promise<boolean> {
  try {
    await listeningHost(port)
    return true
  } catch {
    return false
  }
}
