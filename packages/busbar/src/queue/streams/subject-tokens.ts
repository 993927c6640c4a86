/** Names as tokens of subjects. */

export function encodeToken(text: string): string {
  return encodeURIComponent(text).replaceAll('*', '%2A').replaceAll('.', '%2E')
}

/** Anybody in the cluster may publish to a subject that is not ours. */
export function decodeToken(token: string): string {
  try {
    return decodeURIComponent(token)
  } catch {
    return token
  }
}
