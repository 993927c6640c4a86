/** Ends when something listens on `PORT`. */
import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

const port = Number(process.env['PORT'] ?? 0)
/** Milliseconds: the lab gives up after that, too. */
const patience = 30_000

while (!(await isListening())) {
  if (performance.now() > patience) throw new Error(`nothing listens on port ${port}`)
  await sleep(10)
}

async function isListening(): Promise<boolean> {
  const socket = connect({ port, host: '127.0.0.1' })
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}
