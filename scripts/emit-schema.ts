/**
 * Writes the config's JSON Schema for editors to `dist/busbar.schema.json`, which the package
 * exports as `busbar/schema.json`.
 */
import { writeFile } from 'node:fs/promises'
import { createJsonSchema } from '../packages/busbar/src/config/schema/json-schema.ts'

await writeFile('packages/busbar/dist/busbar.schema.json', `${JSON.stringify(createJsonSchema(), undefined, 2)}\n`)
