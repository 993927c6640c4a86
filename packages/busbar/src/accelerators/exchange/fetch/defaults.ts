/**
 * Whether the built-in `fetch` sends `sec-fetch-mode` to a name without TLS. The fetch standard reserves it for
 * trustworthy origins: undici 7 (Node 24) sends it to all, 8 (Node 26) to those only. The built-in itself is asked, by a
 * dispatcher that keeps what it would send.
 */
export function sendsFetchMode(): boolean {
  let sent: Readonly<Record<string, unknown>> = {}
  const dispatcher = {
    dispatch(options: { headers: typeof sent }): never {
      sent = options.headers
      throw new Error('asked for its headers only')
    },
  }
  const init = { dispatcher } as unknown as RequestInit
  globalThis.fetch('http://service.internal/', init).catch(() => {})
  return 'sec-fetch-mode' in sent
}
