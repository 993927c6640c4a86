import type { X509Certificate } from 'node:crypto'
import type { Link } from '../../links/link.ts'

/**
 * Milliseconds between two looks at the clock. A timer does not count while the machine sleeps, and
 * does not see that its clock was set; one for more than 24.8 days would end at once.
 */
const interval = 60_000

/** A link may live for months, so its peer has to authenticate again when its certificate expires. */
export function closeAtExpiry(link: Link, { validTo }: X509Certificate, label: string): void {
  const until = Date.parse(validTo)
  let timer: NodeJS.Timeout | undefined
  const look = (): void => {
    const left = until - Date.now()
    if (left > 0) timer = setTimeout(look, Math.min(left, interval)).unref()
    else link.close({ code: 'LINK_LOST', message: `the certificate of ${label} has expired` })
  }
  look()
  void link.closed.then(() => clearTimeout(timer))
}
