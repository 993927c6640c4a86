import { createHash } from 'node:crypto'

/** The id of this app in its cluster, which all of its workers know: each start makes another. */
export function hostIdOf(secret: string): string {
  return createHash('sha256').update(`cluster host ${secret}`).digest('hex').slice(0, 16)
}
