/**
 * Connects services by a byte stream in memory, within a thread and over the links between workers. A socket of ours implements the
 * methods of a stream, as Node documents it; servers get it as a connection. Gain: see docs/guides/accelerators.md.
 */
import type { Streams } from '../../mesh/streams.ts'
import { answerConnections } from './answer.ts'
import { openInMemory } from './connect.ts'

export { streamFault as probe } from './probe.ts'

export const attachment: Streams = { open: openInMemory, answer: answerConnections }
