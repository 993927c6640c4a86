/** Who uses the page: the token of the admin port. */
import { signal } from '@preact/signals'

/** In the storage of this tab alone: it is gone with the tab. */
const key = 'busbar-token'
const tokenInAddress = /^#token=([\w-]+)$/

/** Why the page asks for a token again; null if it does so for the first time. */
export const problem = signal<string | null>(null)
/** Null: the page asks for it. */
export const token = signal<string | null>(takeToken())

export function signIn(given: string): void {
  if (!isSendable(given)) return void (problem.value = 'This token is not valid: a header cannot have its characters.')
  sessionStorage.setItem(key, given)
  problem.value = null
  token.value = given
}

export function signOut(): void {
  sessionStorage.removeItem(key)
  problem.value = null
  token.value = null
}

/** The app does not know it, or no more. */
export function rejectToken(): void {
  signOut()
  problem.value = 'The app refuses this token: it is wrong, or was changed.'
}

/** In a header (RFC 9110, 5.5). */
function isSendable(text: string): boolean {
  return /^[ -~\u0080-\u00ff]+$/.test(text)
}

// An address with a token may be opened in a tab that shows the page already.
addEventListener('hashchange', () => {
  if (!tokenInAddress.test(location.hash)) return
  problem.value = null
  token.value = takeToken()
  // For those who have seen the address with the token.
  dispatchEvent(new HashChangeEvent('hashchange'))
})

/** Takes the token out of the address, so that it is not in bookmarks and screenshots. */
function takeToken(): string | null {
  const given = tokenInAddress.exec(location.hash)?.[1]
  if (given === undefined) {
    const kept = sessionStorage.getItem(key)
    return kept !== null && isSendable(kept) ? kept : null
  }
  sessionStorage.setItem(key, given)
  history.replaceState(null, '', `${location.pathname}#/`)
  return given
}
