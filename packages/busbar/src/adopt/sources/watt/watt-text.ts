import { literal, variablesOf } from '../../key-rules.ts'

/**
 * `{NAME}` of Watt as `${NAME:-}` of Busbar: both are empty without the variable. Services are
 * `http://<name>.internal` here.
 */
export function wattText(text: string): string {
  return literal(text)
    .replaceAll(/\{{1,2}([a-z0-9_]+)\}{1,2}/gi, '${$1:-}')
    .replaceAll('.plt.local', '.internal')
}

export function wattVariables(value: unknown): Record<string, string> {
  return Object.fromEntries(
    // What `literal` has escaped is escaped once.
    Object.entries(variablesOf(value)).map(([name, text]) => [name, wattText(text.replaceAll('$${', '${'))]),
  )
}
