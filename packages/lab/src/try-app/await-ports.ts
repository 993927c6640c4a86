/**
 * A program that ends when something listens on each port that it is given. A service of today runs
 * after it if it needs others. Nothing limits the wait: the start of the arm has a limit.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { isListening } from '../protocol/send-request.ts'

const pause = 20

for (const port of process.argv.slice(2).map(Number)) while (!(await listens(port))) await sleep(pause)

async function listens(port: number): Promise<boolean> {
  try {
    await isListening(port)
    return true
  } catch {
    return false
  }
}
