/** Writes the JSON Schema of the config into the built package, where editors find it as `busbar/schema.json`. */
import { writeFile } from 'node:fs/promises'
import { createJsonSchema } from '../packages/busbar/src/config/schema/json-schema.ts'

await writeFile('packages/busbar/dist/busbar.schema.json', `${JSON.stringify(createJsonSchema(), undefined, 2)}\n`)
