/** What a program sees of a connection of the mesh, at every level, as of one over TCP. */
import { deepEqual } from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { get } from 'node:http'
import { Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { isOn } from '../../support/mesh/accelerators.ts'
import { ByteMesh } from '../../support/mesh/byte-mesh.ts'
import { send } from '../../support/mesh/test-call.ts'
import { TestEndpoint } from '../../support/mesh/test-endpoint.ts'

const published = 'net.server.socket'

/** Returns the connections that Node's channel publishes while `run` runs. */
async function connectionsIn(run: () => Promise<unknown>): Promise<unknown[]> {
  const sockets: unknown[] = []
  const add = (message: unknown) => sockets.push((message as { socket: unknown }).socket)
  subscribe(published, add)
  try {
    await run()
  } finally {
    unsubscribe(published, add)
  }
  return sockets
}

const ways = {
  'a connection': async (seen: (socket: Socket) => void) => {
    await using _mesh = new ByteMesh({ catalog: (request, response) => (seen(request.socket), void response.end()) })
    const outgoing = get('http://catalog.internal/', { agent: false })
    const [response] = (await once(outgoing, 'response')) as [IncomingMessage]
    await text(response)
    seen(response.socket)
  },
  ...(isOn('exchange') && {
    'an exchange': async (seen: (socket: Socket) => void) => {
      await using endpoint = new TestEndpoint('callee', (request, response) => (seen(request.socket), response.end()))
      await send(endpoint)
    },
  }),
}

for (const [name, call] of Object.entries(ways)) {
  test(`${name} of a server is published`, async () => {
    let served: Socket | undefined
    const sockets = await connectionsIn(() => call((socket) => (served ??= socket)))
    deepEqual(
      sockets.map((socket) => socket === served),
      [true],
    )
  })

  test(`the class of the sockets of ${name} is that of Node`, async () => {
    const classes: unknown[] = []
    await call((socket) => classes.push(socket.constructor))
    deepEqual(new Set(classes), new Set([Socket]))
  })
}
