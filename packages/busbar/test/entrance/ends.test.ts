/** How upgraded connections end: as under plain Node, at either entrance, for each placement. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { placements, startPlaced } from './placed-program.ts'
import { builtAddon, Client, eventually, get } from './served.ts'

const cleanly = ['end after 3', 'finished ok', 'close false']
const byReset = ['error ECONNRESET', 'finished ECONNRESET', 'close true']

for (const entrance of ['native', 'portable'] as const) {
  const options = { skip: entrance === 'native' && builtAddon === undefined ? 'the entrance is not built' : false }
  describe(`an upgraded connection at the ${entrance} entrance`, options, () => {
    it('ends for the program as its client ends it', async () => {
      await using app = await startPlaced('ends', entrance)
      for (const service of placements) {
        const log = async (id: string): Promise<string[]> =>
          (await (await fetch(new URL(`/${service}/log?of=${id}`, app.url))).json()) as string[]
        const seen = async (id: string): Promise<string[]> => {
          await eventually(async () => (await log(id)).some((one) => one.startsWith('close')))
          return (await log(id)).toSorted()
        }
        const upgraded = async (id: string, mode: string): Promise<Client> => {
          const fields = `Connection: Upgrade\r\nUpgrade: x\r\nX-Id: ${id}\r\nX-Mode: ${mode}\r\n`
          const client = new Client(app.port).send(get(`/${service}/`, fields))
          await client.until(mode === 'end' ? 'bye' : '\r\n\r\n')
          return client.send('abc')
        }
        const timed = await upgraded('timed', 'timed')
        await sleep(1_500)
        timed.send('abc')
        await eventually(async () => (await log('timed')).length === 4)
        assert.deepEqual(await log('timed'), ['data', 'timeout', 'data', 'timeout'], `${service}: once each time`)
        timed.socket.destroy()
        const ended = await upgraded('ended', 'end')
        ended.socket.end()
        assert.deepEqual(await seen('ended'), cleanly.toSorted(), `${service}: both halves have ended`)
        const reset = await upgraded('reset', 'wait')
        reset.socket.resetAndDestroy()
        assert.deepEqual(await seen('reset'), byReset.toSorted(), `${service}: the client resets`)
      }
    })
  })
}
