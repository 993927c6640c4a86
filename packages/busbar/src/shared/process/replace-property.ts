/**
 * Replaces a property of a shared object until the patches are disposed; `make` gets the original.
 * A function keeps the original's name, length and properties, which `util.promisify` and others
 * look for.
 */
export function replaceProperty<T extends object, K extends keyof T>(
  patches: DisposableStack,
  target: T,
  key: K,
  make: (original: T[K]) => T[K],
): void {
  const own = Object.getOwnPropertyDescriptor(target, key)
  const value = copyFunctionProperties(make(target[key]), target[key])
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

/** Properties that the replacement already has are kept. */
export function copyFunctionProperties<V>(replacement: V, original: unknown): V {
  if (typeof replacement !== 'function' || typeof original !== 'function' || replacement === original)
    return replacement
  for (const key of Reflect.ownKeys(original)) {
    const isOwn = Object.hasOwn(replacement, key) && key !== 'name' && key !== 'length'
    if (!isOwn) Object.defineProperty(replacement, key, Object.getOwnPropertyDescriptor(original, key)!)
  }
  return replacement
}
