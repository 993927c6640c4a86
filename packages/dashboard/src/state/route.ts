/** Which page is shown: `#/traces/<id>`. */
import { computed, signal } from '@preact/signals'

const hash = signal(location.hash)
addEventListener('hashchange', () => (hash.value = location.hash))

const segments = computed(() => hash.value.replace(/^#\/?/, '').split('/').map(decoded))

export const pageName = computed(() => segments.value[0] ?? '')
/** What follows the page's name. */
export const subject = computed(() => segments.value.slice(1).join('/'))

export function linkTo(page: string, about?: string): string {
  return about === undefined ? `#/${page}` : `#/${page}/${encodeURIComponent(about.toWellFormed())}`
}

export function goTo(page: string, about?: string): void {
  location.hash = linkTo(page, about)
}

/** An address that somebody has shortened may end amid an escape. */
function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}
