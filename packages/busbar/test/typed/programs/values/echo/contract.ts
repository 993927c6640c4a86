import { fn, service, stream, type, type Method } from 'busbar/contract'
import { libraries } from './schemas.ts'

/** Where a value is sent. There is a method for each of them and each schema of each library. */
export const ways = ['echo', 'result', 'item', 'failure', 'query', 'removal', 'path'] as const
export type Way = (typeof ways)[number]

const anything = type<unknown>()

const methods: Record<string, Method> = {}
for (const [library, { schemas, fields }] of Object.entries(libraries))
  for (const [name, schema] of Object.entries(schemas)) {
    const field = fields[name]!
    const made: Record<Way, Method> = {
      echo: fn({ input: schema, output: schema === schemas['transformed'] ? anything : schema }),
      result: fn({ input: anything, output: schema }),
      item: stream({ input: anything, output: schema }),
      failure: fn({ input: anything, errors: { IS_GONE: schema } }),
      query: fn({ input: field, output: anything, http: `GET /${library}/${name}` }),
      removal: fn({ input: field, output: anything, http: `DELETE /${library}/${name}` }),
      path: fn({ input: field, output: anything, http: `PUT /${library}/${name}/{value}` }),
    }
    for (const way of ways) methods[`${library}_${name}_${way}`] = made[way]
  }

export const echo = service('echo', methods)
