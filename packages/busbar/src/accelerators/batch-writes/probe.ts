import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { gatherWrites } from '../../mesh/gathered-writes.ts'

/** Milliseconds that the writes may take. */
const probeTime = 5000

/** Three writes of one turn over a connection of this machine, which must arrive as they were written, and each be told of. */
export async function gatheringFault(): Promise<unknown> {
  let told = 0
  const server = createServer((socket) => {
    gatherWrites(socket)
    for (const text of ['a', 'b', 'c']) socket.write(text, () => told++)
    socket.end()
  })
  try {
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const { port } = server.address() as AddressInfo
    const socket = connect({ host: '127.0.0.1', port }).setTimeout(probeTime, () => socket.destroy())
    const text = Buffer.concat(await socket.toArray()).toString()
    return text === 'abc' && told === 3 ? undefined : `of three writes ${told} were told of, and "${text}" arrived`
  } catch (error) {
    return error
  } finally {
    server.close()
  }
}
