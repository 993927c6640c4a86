/**
 * The caller by messages. `WAY` selects the client, `SERVICES` (a JSON list) the services, `NATS`
 * is the address of the server. Otherwise like `../entry.ts`.
 */
import { serveEntry } from '../serve-entry.ts'
import { callByMoleculer } from './moleculer.ts'
import { callByNats } from './nats.ts'

const { WAY = 'nats', SERVICES = '[]', NATS = '' } = process.env
const callBy = WAY === 'moleculer' ? callByMoleculer : callByNats
await serveEntry(await callBy(JSON.parse(SERVICES) as string[], NATS))
