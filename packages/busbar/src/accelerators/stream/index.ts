/**
 * Connects services by byte streams in memory, within a thread and over the links between workers.
 * A socket class implements the documented methods of a stream, and servers get it as a connection.
 *
 * Gain: without it 0.81 of the requests per CPU second on Node 24, 0.90 on Node 26 (`busbar bench
 * accelerators --work http`). Conditions: docs/guides/scale/accelerators.md.
 */
import type { Streams } from '../../mesh/mesh-context.ts'
import { acceptConnections } from './accept-over-link.ts'
import { openInMemory } from './open-in-memory.ts'

/** Loaded only where it runs: most workers know the result. */
export const probe = async (): Promise<unknown> => (await import('./probe.ts')).streamFault()

export const attachment: Streams = { open: openInMemory, answer: acceptConnections }
