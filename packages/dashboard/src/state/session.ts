/** Who uses the page: the token of the admin port. */
import { signal } from '@preact/signals'

/** In the storage of this tab alone: it is gone with the tab. */
const key = 'busbar-token'

/** Null: the page asks for it. */
export const token = signal<string | null>(takeToken())

export function signIn(given: string): void {
  sessionStorage.setItem(key, given)
  token.value = given
}

export function signOut(): void {
  sessionStorage.removeItem(key)
  token.value = null
}

/** Takes the token out of the address, so that it is not in bookmarks and screenshots. */
function takeToken(): string | null {
  const given = /^#token=([\w-]+)$/.exec(location.hash)?.[1]
  if (given === undefined) return sessionStorage.getItem(key)
  sessionStorage.setItem(key, given)
  history.replaceState(null, '', `${location.pathname}#/`)
  return given
}
