/** The closest valid name: `My_Shop` becomes `my-shop`. */
export function toServiceName(name: string): string {
  const spaced = name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1-$2')
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
  const plain = spaced.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')
  return plain.slice(0, 64).replaceAll(/^-+/g, '').slice(0, 63).replaceAll(/-+$/g, '') || 'app'
}
