/**
 * Tells clients that obey `HTTP_PROXY` (axios, undici's `EnvHttpProxyAgent`, Node with `NODE_USE_ENV_PROXY`) that the
 * app's services are not behind the proxy, nor are other `hosts`. Both spellings are set, since some clients read only the
 * first they find.
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
