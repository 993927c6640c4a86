/** What clients see of a connection's two ends, at the native entrance. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { builtAddon, get, Served } from './served.ts'

const options = { skip: builtAddon === undefined ? 'the entrance is not built' : false }

describe('a connection of the entrance', options, () => {
  it('has its own local address, if the entrance listens at all addresses', async () => {
    await using served = await Served.start()
    const { port } = served.native.listen('0.0.0.0', 0)
    const response = await fetch(`http://127.0.0.2:${port}/seen`)
    const seen = (await response.json()) as { readonly localAddress: string; readonly localPort: number }
    assert.deepEqual([seen.localAddress, seen.localPort], ['127.0.0.2', port])
  })

  it('ends behind a complete response of any size, if its client asks for it', async () => {
    await using served = await Served.start()
    for (const bytes of [1, 1000, 100_000, 3_000_000]) {
      const client = served.connect().send(get(`/bytes?length=${bytes}`, 'Connection: close\r\n'))
      await client.closed
      assert.equal(client.bytes.length - client.bytes.indexOf('\r\n\r\n') - 4, bytes, `${bytes} bytes`)
    }
  })
})
