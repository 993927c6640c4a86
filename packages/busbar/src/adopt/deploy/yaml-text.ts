import { stringify } from 'yaml'

/** Readers of YAML 1.1 would take `22:22` for a number, so such texts are quoted. Without anchors. */
export function yamlText(value: object): string {
  return stringify(value, { version: '1.1', lineWidth: 0, aliasDuplicateObjects: false })
}
