import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { test } from 'node:test'
import { isOn } from '../../support/mesh/accelerators.ts'
import { way } from '../../support/mesh/byte-mesh.ts'
import { TestGateway } from '../../support/http/test-gateway.ts'

const skip =
  (isOn('stream') || isOn('exchange') || isOn('handover')) && 'with accelerators requests take no private socket'

for (const overLink of [false, true])
  test(
    `private sockets are kept for the next request that may be repeated, ${overLink ? 'elsewhere' : 'here'}`,
    { skip },
    async () => {
      way.overLink = overLink
      const web = createServer((request, response) => void response.end(request.method))
      let connections = 0
      web.on('connection', () => connections++)
      await using gateway = await TestGateway.start({ services: { web } })
      const ask = async (method = 'GET'): Promise<string> => (await fetch(gateway.url('/web'), { method })).text()
      for (let turn = 0; turn < 3; turn++) assert.equal(await ask(), 'GET')
      assert.equal(connections, 1)
      assert.equal(await ask('POST'), 'POST')
      assert.equal(connections, 2)
      // The gateway does not know it yet when it sends the request.
      web.closeAllConnections()
      assert.equal(await ask(), 'GET')
    },
  )
