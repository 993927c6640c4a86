/** Replaces a property of a shared object until the patches are disposed; `make` gets what stood there. */
export function replace<T extends object, K extends keyof T>(
  patches: DisposableStack,
  target: T,
  key: K,
  make: (original: T[K]) => T[K],
): void {
  const own = Object.getOwnPropertyDescriptor(target, key)
  const value = make(target[key])
  Object.defineProperty(target, key, {
    value,
    writable: true,
    configurable: true,
    enumerable: own?.enumerable ?? true,
  })
  patches.defer(() => {
    if (own === undefined) delete target[key]
    else Object.defineProperty(target, key, own)
  })
}
