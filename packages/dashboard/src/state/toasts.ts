/** What actions report. */
import { signal } from '@preact/signals'
import { ApiError } from '../api/client.ts'

export interface Toast {
  readonly id: number
  readonly kind: 'good' | 'bad'
  readonly text: string
}

/** Milliseconds. Failures stay until they are closed. */
const shownFor = 6000
const most = 4

let next = 0

export const toasts = signal<readonly Toast[]>([])

export function report(kind: Toast['kind'], text: string): void {
  const toast = { id: next++, kind, text }
  toasts.value = [...toasts.value, toast].slice(-most)
  if (kind === 'good') setTimeout(() => dismiss(toast.id), shownFor)
}

export function reportError(error: unknown): void {
  report('bad', errorText(error))
}

export function errorText(error: unknown): string {
  if (error instanceof ApiError) return [error.message, error.hint].filter(Boolean).join('. ')
  return error instanceof TypeError ? 'the app does not answer' : String(error)
}

export function dismiss(id: number): void {
  toasts.value = toasts.value.filter((toast) => toast.id !== id)
}
