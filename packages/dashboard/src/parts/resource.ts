import { useEffect, useState } from 'preact/hooks'
import { ApiError } from '../api/client.ts'

export type Resource<T> =
  | { readonly state: 'loading'; readonly value?: undefined }
  | { readonly state: 'loaded'; readonly value: T }
  /** `value`: the last one. */
  | { readonly state: 'failed'; readonly value?: T | undefined; readonly error: unknown; readonly isFinal: boolean }

/** Milliseconds between two attempts. */
const retryAfter = 2000

/**
 * Loads again when `key` changes, and shows the last value meanwhile. After a failure it loads
 * again by itself.
 */
export function useResource<T>(load: () => Promise<T>, key: string): Resource<T> {
  const [resource, set] = useState<Resource<T>>({ state: 'loading' })
  useEffect(() => {
    let isCurrent = true
    let timer: ReturnType<typeof setTimeout> | undefined
    const attempt = async (): Promise<void> => {
      try {
        const value = await load()
        if (isCurrent) set({ state: 'loaded', value })
      } catch (error) {
        if (!isCurrent) return
        const isFinal = isRefusal(error)
        set(({ value }) => ({ state: 'failed', value, error, isFinal }))
        if (!isFinal) timer = setTimeout(() => void attempt(), retryAfter)
      }
    }
    void attempt()
    return () => {
      isCurrent = false
      clearTimeout(timer)
    }
  }, [key])
  return resource
}

/** The same request would be refused again. */
function isRefusal(error: unknown): boolean {
  return error instanceof ApiError && error.status >= 400 && error.status < 500
}
