import { useEffect, useState } from 'preact/hooks'

export type Resource<T> =
  | { readonly state: 'loading'; readonly value?: undefined }
  | { readonly state: 'loaded'; readonly value: T }
  | { readonly state: 'failed'; readonly error: unknown; readonly value?: undefined }

/** Loads again when `key` changes, and shows the last value meanwhile. */
export function useResource<T>(load: () => Promise<T>, key: string): Resource<T> {
  const [resource, set] = useState<Resource<T>>({ state: 'loading' })
  useEffect(() => {
    let isCurrent = true
    load().then(
      (value) => isCurrent && set({ state: 'loaded', value }),
      (error: unknown) => isCurrent && set({ state: 'failed', error }),
    )
    return () => {
      isCurrent = false
    }
  }, [key])
  return resource
}
