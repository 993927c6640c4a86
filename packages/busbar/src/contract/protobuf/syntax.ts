/** Names in protobuf, as contracts may give them. */

const fullName = /^((?:[a-z_][a-z0-9_]*\.)*[a-z_][a-z0-9_]*)\.([A-Z][A-Za-z0-9_]*)$/

/** The package and the service of `rpz.ItemService`. Undefined for anything else. */
export function parseFullServiceName(
  text: unknown,
): { readonly package: string; readonly service: string } | undefined {
  const [, name, service] = (typeof text === 'string' && fullName.exec(text)) || []
  return name === undefined ? undefined : { package: name, service: service! }
}

export function isRpcName(text: unknown): boolean {
  return typeof text === 'string' && /^[A-Z][A-Za-z0-9_]*$/.test(text)
}
