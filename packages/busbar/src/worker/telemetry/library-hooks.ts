import { createRequire, registerHooks } from 'node:module'
import { fileURLToPath } from 'node:url'

/**
 * Calls `found` with each copy of a library that services of this thread load, before the code that
 * asks for it gets it. A service has its own copy, or shares one with others of its thread. A
 * library that a build has put into the service's own file has no name, so it is not found.
 */
export function watchLibraries(found: Readonly<Record<string, (library: object) => void>>): void {
  const seen = new Set<string>()
  registerHooks({
    resolve(specifier, context, next) {
      const result = next(specifier, context)
      const use = Object.hasOwn(found, specifier) ? found[specifier] : undefined
      if (use === undefined || seen.has(result.url) || !result.url.startsWith('file:')) return result
      // Loading it resolves it again.
      seen.add(result.url)
      try {
        // The module that `import` and `require` of this URL return too.
        use(createRequire(result.url)(fileURLToPath(result.url)) as object)
      } catch {
        // It cannot be loaded: the service gets the same error. Or it is not what its name says.
      }
      return result
    },
  })
}
