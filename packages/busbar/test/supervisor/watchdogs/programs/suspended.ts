// An app in its own process, which reports its workers at the start and on request.
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { TestApp } from '../../../support/app/test-app.ts'
import { Connection } from '../../../support/http/raw-connection.ts'

const timing = { stuck: 2500, watch: 50 }
const app = await TestApp.start({ services: { any: `${import.meta.dirname}/../../programs/any.js` } }, { timing })
using connection = await Connection.open(app.port)
await report()

const input = createInterface({ input: process.stdin })
await once(input, 'line')
await sleep(500)
await report()
await once(input, 'close')
await app.running.stop()

async function report() {
  const thread = await connection.thread()
  console.log(JSON.stringify({ thread, deaths: app.running.workers.map(({ deaths }) => deaths) }))
}
