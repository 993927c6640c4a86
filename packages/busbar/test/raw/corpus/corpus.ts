import { framing } from './framing.ts'
import { heads } from './heads.ts'
import { lines } from './lines.ts'
import type { Corpus } from './request.ts'
import { turns } from './turns.ts'

/**
 * Requests as no library would send them, by name. Each ends with the client's half of its
 * connection closed.
 */
export const corpus: Corpus = { ...framing, ...heads, ...lines, ...turns }
