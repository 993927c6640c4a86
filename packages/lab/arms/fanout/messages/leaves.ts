/** The four callees in one process. `WAY`, `SERVICES` and `NATS` are as in `entry.ts`. */
import { serveByMoleculer } from './moleculer.ts'
import { serveByNats } from './nats.ts'

const { WAY = 'nats', SERVICES = '[]', NATS = '' } = process.env
const serve = WAY === 'moleculer' ? serveByMoleculer : serveByNats
await serve(JSON.parse(SERVICES) as string[], NATS)
