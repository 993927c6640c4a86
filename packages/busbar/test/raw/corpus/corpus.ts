import { framing } from './framing.ts'
import { heads } from './header-fields.ts'
import { lines } from './request-lines.ts'
import type { Corpus } from './request.ts'
import { turns } from './sequences.ts'

/**
 * Requests that no library would send, by name. After each, the client closes its half of the
 * connection.
 */
export const corpus: Corpus = { ...framing, ...heads, ...lines, ...turns }
