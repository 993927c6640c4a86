import type { Contract } from '../contract.ts'
import { BusbarError } from '../errors.ts'
import { parseFullServiceName } from './syntax.ts'

/** `rpz.ItemService`, if the contract says so; else `shop_cart.ShopCartService` for `shop-cart`. */
export function protoNamesOf({ name, grpc }: Pick<Contract, 'name' | 'grpc'>): {
  readonly package: string
  readonly service: string
} {
  const given = parseFullServiceName(grpc)
  if (given !== undefined) return given
  const words = name.replaceAll('-', '_')
  return { package: /^\d/.test(words) ? `_${words}` : words, service: `${toTypeName(name)}Service` }
}

/** `createItem` and `create-item` are `CreateItem`. */
export function toTypeName(text: string): string {
  const words = text.split(/[^A-Za-z0-9]+/).filter((word) => word !== '')
  const joined = words.map((word) => word[0]!.toUpperCase() + word.slice(1)).join('')
  return /^[A-Z]/.test(joined) ? joined : `T${joined}`
}

/** `retryAfter` is `retry_after`, and `HTTPServer` is `http_server`. */
export function toFieldName(key: string): string {
  const words = key
    .replaceAll(/([a-z0-9])([A-Z])|([A-Z])([A-Z][a-z])/g, '$1$3_$2$4')
    .replaceAll(/[^A-Za-z0-9]+/g, '_')
    .toLowerCase()
  const trimmed = words.replaceAll(/^_+|_+$/g, '')
  if (trimmed === '') return 'field'
  return /^\d/.test(trimmed) ? `f_${trimmed}` : trimmed
}

/** The JSON name that protoc derives from a field's name. */
export function toJsonName(name: string): string {
  return name.replaceAll(/_+(.?)/g, (_, next: string) => next.toUpperCase())
}

/** Two names that protobuf cannot tell apart get a number. */
export function unique(name: string, taken: ReadonlySet<string>, join = ''): string {
  if (!taken.has(name)) return name
  for (let at = 2; ; at++) if (!taken.has(`${name}${join}${at}`)) return `${name}${join}${at}`
}

/** The error for a contract that has no protobuf form. */
export function protoInvalid(service: string, message: string, hint: string): BusbarError {
  return new BusbarError('CONTRACT_INVALID', { message, hint, service })
}
