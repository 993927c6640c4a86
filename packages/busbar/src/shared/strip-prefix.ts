/**
 * The path for the service: `/shop/x` without `/shop` is `/x`, and `/shop` itself is `/`. Several
 * slashes after the prefix become one: URL parsers and browsers read a leading `//` as a host.
 */
export function stripPrefix(url: string, prefix: string): string {
  if (prefix === '') return url
  const rest = url.slice(prefix.length)
  if (rest === '' || rest.startsWith('?')) return `/${rest}`
  return rest.startsWith('//') ? rest.replace(/^\/+/, '/') : rest
}
