type Content = Node | string

/** `element('button', { class: 'add' }, 'Add')`. Text is never parsed as HTML. */
export function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Readonly<Record<string, string>> = {},
  ...content: readonly Content[]
): HTMLElementTagNameMap[Name] {
  const made = document.createElement(name)
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value)
  made.append(...content)
  return made
}

/** The element of the page with this id. */
export function byId<Kind extends HTMLElement>(id: string, kind: new () => Kind): Kind {
  const found = document.getElementById(id)
  if (found instanceof kind) return found
  throw new Error(`the page has no ${kind.name} #${id}`)
}

const euros = new Intl.NumberFormat('en', { style: 'currency', currency: 'EUR' })

export function price(cents: number): string {
  return euros.format(cents / 100)
}
