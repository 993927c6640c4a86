/** The ways for packets to get from one end of a link to the other, each with both ends in this process. */
import { rm, mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MessageChannel } from 'node:worker_threads'
import { memoryPipes } from '../../src/mesh/links/memory.ts'
import type { Pipe } from '../../src/mesh/links/pipe.ts'
import type { Greeted } from '../../src/mesh/transports/socket.ts'
import { threadPipe } from '../../src/mesh/transports/thread.ts'
import { dialUnix, listenUnix } from '../../src/mesh/transports/unix.ts'

export interface Way {
  readonly name: string
  pipes(): Promise<[Pipe, Pipe]>
}

export const memory: Way = { name: 'memory', pipes: async () => memoryPipes() }

export const thread: Way = {
  name: 'a message port',
  pipes: async () => {
    const { port1, port2 } = new MessageChannel()
    return [threadPipe(port1), threadPipe(port2)]
  },
}

export const unix: Way = {
  name: 'a Unix socket',
  pipes: async () => {
    const folder = await mkdtemp(join(tmpdir(), 'busbar-link-'))
    const taken = Promise.withResolvers<Greeted>()
    const listener = await listenUnix(
      join(folder, 'link'),
      { worker: 2, secret: 's' },
      (greeted) => taken.resolve(greeted),
      (error) => taken.reject(error),
    )
    const [near, far] = await Promise.all([dialUnix(join(folder, 'link'), { worker: 1, secret: 's' }), taken.promise])
    await listener.close()
    await rm(folder, { recursive: true })
    return [near.pipe, far.pipe]
  },
}

export const ways: readonly Way[] = [memory, thread, unix]
