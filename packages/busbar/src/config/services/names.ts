import { BusbarError } from '../../contract/errors.ts'

/** A DNS label, since `http://<name>.internal` is its address: RFC 1035 section 2.3.1, digits first allowed by RFC 1123. */
const label = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/

/** Throws SERVICE_NAME_INVALID, with a name that would do. */
export function checkServiceName(name: string, hint?: string): void {
  if (label.test(name)) return
  throw new BusbarError('SERVICE_NAME_INVALID', {
    message: `${JSON.stringify(name)} cannot be the name of a service: a name has a-z, 0-9 and inner hyphens, 63 at most`,
    hint: hint ?? `Call it ${toServiceName(name)}.`,
  })
}

/** The nearest valid name: `My_Shop` gives `my-shop`. */
export function toServiceName(name: string): string {
  const spaced = name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1-$2')
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
  const plain = spaced.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')
  return plain.slice(0, 64).replaceAll(/^-+/g, '').slice(0, 63).replaceAll(/-+$/g, '') || 'app'
}
