/** Dark or light: as chosen in this browser, else as the system has it. */
import { computed, effect, signal } from '@preact/signals'

type Theme = 'dark' | 'light'

const key = 'busbar-theme'
const query = matchMedia('(prefers-color-scheme: dark)')
const system = signal<Theme>(query.matches ? 'dark' : 'light')
const chosen = signal(localStorage.getItem(key) as Theme | null)

query.addEventListener('change', ({ matches }) => (system.value = matches ? 'dark' : 'light'))

export const theme = computed(() => chosen.value ?? system.value)

effect(() => void (document.documentElement.dataset['theme'] = theme.value))

export function toggleTheme(): void {
  chosen.value = theme.value === 'dark' ? 'light' : 'dark'
  localStorage.setItem(key, chosen.value)
}

/** A colour of the theme, for what is drawn. */
export function colour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim()
}
