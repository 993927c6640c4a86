/**
 * Excludes the app's services, and `hosts`, from proxies, for clients that use `HTTP_PROXY` (axios,
 * undici's `EnvHttpProxyAgent`, Node with `NODE_USE_ENV_PROXY`). Sets both spellings, since some
 * clients only read the first that they find.
 */
export function bypassProxies(
  env: Record<string, string | undefined>,
  services: Iterable<string>,
  hosts: readonly string[] = [],
): void {
  const names = [...[...services].map((service) => `${service}.internal`), ...hosts]
  const [lower, upper] = [env['no_proxy'], env['NO_PROXY']]
  env['no_proxy'] = extend(lower ?? upper, names)
  env['NO_PROXY'] = extend(upper ?? lower, names)
}

function extend(list: string | undefined, names: readonly string[]): string {
  const before = (list ?? '').split(/[\s,]+/).filter((name) => name !== '')
  if (before.includes('*')) return list!
  return [...new Set([...before, ...names])].join(',')
}

/** The change that `cd path` in a shell makes to an environment that has `PWD`. */
export function pwdVariable(path: string, { PWD }: Readonly<NodeJS.ProcessEnv>): { PWD?: string } {
  return PWD === undefined ? {} : { PWD: path }
}

/**
 * Changes the working directory, and returns a function that changes it back. Threads share it:
 * only an app's sole service can have its own.
 */
export function enterFolder(folder: string): () => void {
  const before = process.cwd()
  process.chdir(folder)
  return () => process.chdir(before)
}
